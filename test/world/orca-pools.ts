import { getWhirlpoolAddress, getWhirlpoolEncoder, WhirlpoolDeployment } from '@orca-so/whirlpools-client';
import {
  type Address,
  address,
  getAddressEncoder,
  getProgramDerivedAddress,
  getUtf8Encoder,
} from '@solana/web3.js';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintToInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { plantNamedMint } from './named-mint.ts';
import { landTransaction } from './solana-wallet.ts';
import type { SolanaWorld } from './solana-world.ts';
import type { TestToken } from './test-tokens.ts';

const WHIRLPOOL_PROGRAM = address('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc');
const CONFIG = address('2LecshUwdy9xi7meFgHtFJQNSKk4KdTrcpvaB56dP2NQ');
const DEPLOYMENT = WhirlpoolDeployment.custom(WHIRLPOOL_PROGRAM, CONFIG);
const NO_ADDRESS = address('11111111111111111111111111111111');
const RENT_LAMPORTS = 6_000_000n;

interface PoolToken extends TestToken {
  readonly name: string;
  readonly symbol: string;
  readonly program: Address;
}

export interface WorldPool {
  readonly address: string;
  readonly tokenA: PoolToken;
  readonly tokenB: PoolToken;
}

/** The configured pools, written into the chain. */
export interface WorldPools {
  readonly sabtcUsdc: WorldPool;
  /** A pool with an adaptive fee; SAETH is a Token-2022 mint that contains its own name. */
  readonly saethSausd: WorldPool;
  readonly sausdUsdc: WorldPool;
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** Square root (Q64.64) of the price in atoms of B per atom of A; `priceB` is in whole B per whole A. */
function rootPrice(priceB: bigint, a: PoolToken, b: PoolToken): bigint {
  const numerator = priceB * 10n ** BigInt(b.decimals);
  return squareRoot((numerator << 128n) / 10n ** BigInt(a.decimals));
}

/** Whole units of a token in its pool, and its price in dollars. */
interface Side {
  readonly token: PoolToken;
  readonly dollars: bigint;
  readonly held: bigint;
}

const keyBytes = (text: string): Uint8Array => Uint8Array.from(getAddressEncoder().encode(address(text)));

export async function plantPools(solana: SolanaWorld): Promise<WorldPools> {
  const { ledger, bank } = solana;

  async function fillVault(pool: Address, { token, held }: Side): Promise<Address> {
    const of = { owner: pool, mint: address(token.mint), tokenProgram: token.program };
    const [vault] = await findAssociatedTokenPda(of);
    const amount = held * 10n ** BigInt(token.decimals);
    await landTransaction(ledger, bank.signer, [
      getCreateAssociatedTokenIdempotentInstruction({ ...of, payer: bank.signer, ata: vault }),
      getMintToInstruction(
        { mint: of.mint, token: vault, mintAuthority: token.mintAuthority, amount },
        { programAddress: token.program },
      ),
    ]);
    return vault;
  }

  async function plant(
    first: Side,
    second: Side,
    fee: { spacing: number; tier: number; rate: number },
  ): Promise<WorldPool> {
    const isSorted = Buffer.compare(keyBytes(first.token.mint), keyBytes(second.token.mint)) < 0;
    const [a, b] = isSorted ? [first, second] : [second, first];
    const mints = [address(a.token.mint), address(b.token.mint)] as const;
    const [pool, bump] = await getWhirlpoolAddress(...mints, fee.tier, DEPLOYMENT);
    const sqrtPrice =
      a.dollars >= b.dollars
        ? rootPrice(a.dollars / b.dollars, a.token, b.token)
        : (1n << 128n) / rootPrice(b.dollars / a.dollars, b.token, a.token);
    const unused = {
      mint: NO_ADDRESS,
      vault: NO_ADDRESS,
      extension: new Uint8Array(32),
      emissionsPerSecondX64: 0n,
      growthGlobalX64: 0n,
    };
    const data = getWhirlpoolEncoder().encode({
      whirlpoolsConfig: CONFIG,
      whirlpoolBump: Uint8Array.of(bump),
      tickSpacing: fee.spacing,
      feeTierIndexSeed: Uint8Array.of(fee.tier & 0xff, fee.tier >> 8),
      feeRate: fee.rate,
      protocolFeeRate: 1_300,
      liquidity: 975_620_273_327_828n,
      sqrtPrice,
      tickCurrentIndex: Math.floor((2 * Math.log(Number(sqrtPrice) / 2 ** 64)) / Math.log(1.0001)),
      protocolFeeOwedA: 0n,
      protocolFeeOwedB: 0n,
      tokenMintA: mints[0],
      tokenVaultA: await fillVault(pool, a),
      feeGrowthGlobalA: 0n,
      tokenMintB: mints[1],
      tokenVaultB: await fillVault(pool, b),
      feeGrowthGlobalB: 0n,
      rewardLastUpdatedTimestamp: 1_788_000_000n,
      rewardInfos: [unused, unused, unused],
    });
    await ledger.plant(pool, RENT_LAMPORTS, Uint8Array.from(data), WHIRLPOOL_PROGRAM);
    return { address: pool, tokenA: a.token, tokenB: b.token };
  }

  const named = (kind: 'token' | 'token-2022', name: string, symbol: string, decimals: number) =>
    plantNamedMint(
      ledger,
      kind,
      { name, symbol, uri: 'https://example.org/t.json' },
      { decimals, mintAuthority: bank.signer },
    );
  const saeth = await named('token-2022', 'Synthetic Ether', 'SAETH', 9);
  const sabtc = await named('token', 'Synthetic Bitcoin', 'SABTC', 8);
  const sausd = await named('token', 'Synthetic Dollar', 'SAUSD', 6);
  const usdc = { ...solana.mints.usdc, name: 'USD Coin', symbol: 'USDC', program: TOKEN_PROGRAM_ADDRESS };

  const dollar = (token: PoolToken, held: bigint): Side => ({ token, dollars: 1n, held });
  const pools = {
    sabtcUsdc: await plant({ token: sabtc, dollars: 80_000n, held: 12n }, dollar(usdc, 960_000n), {
      spacing: 64,
      tier: 64,
      rate: 3_000,
    }),
    saethSausd: await plant({ token: saeth, dollars: 2_000n, held: 450n }, dollar(sausd, 900_000n), {
      spacing: 4,
      tier: 1_027,
      rate: 400,
    }),
    sausdUsdc: await plant(dollar(sausd, 500_000n), dollar(usdc, 500_000n), {
      spacing: 1,
      tier: 1,
      rate: 100,
    }),
  };
  await plantOracle(solana, address(pools.saethSausd.address));
  ledger.clock.root();
  return pools;
}

/** The oracle of an adaptive fee, at the offsets of oracle.rs. */
async function plantOracle(solana: SolanaWorld, pool: Address): Promise<void> {
  const seeds = [getUtf8Encoder().encode('oracle'), keyBytes(pool)];
  const [account] = await getProgramDerivedAddress({ programAddress: WHIRLPOOL_PROGRAM, seeds });
  const data = Buffer.alloc(254);
  data.set([139, 194, 131, 179, 140, 179, 229, 244]);
  data.set(keyBytes(pool), 8);
  data.writeUInt16LE(30, 48);
  data.writeUInt16LE(600, 50);
  data.writeUInt16LE(500, 52);
  data.writeUInt32LE(4_000, 54);
  data.writeUInt32LE(100_000, 58);
  data.writeUInt16LE(64, 62);
  data.writeUInt16LE(64, 64);
  data.writeUInt32LE(10_000, 106);
  await solana.ledger.plant(account, RENT_LAMPORTS, data, WHIRLPOOL_PROGRAM);
}

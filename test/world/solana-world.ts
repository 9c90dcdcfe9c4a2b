import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import type { SolanaKey } from './keys.ts';
import { createSolanaKey } from './keys.ts';
import { startSolanaClock } from './solana-clock.ts';
import { createSolanaLedger, type SolanaLedger } from './solana-ledger.ts';
import { transferSol } from './solana-wallet.ts';
import { startSurfpool } from './surfpool.ts';
import {
  createMint,
  createPair,
  createTokenAccounts,
  mintTo,
  type TestToken,
  tokenAccountOf,
} from './test-tokens.ts';

const LAMPORTS_PER_SOL = 1_000_000_000n;

export type FaucetAsset = 'sol' | 'usdc' | 'usdt' | 'asry';

/** The Solana side of the world: a running chain, funded keys and test tokens. */
export interface SolanaWorld {
  readonly ledger: SolanaLedger;
  /** Pays SOL, and is the sole mint authority of the dollar tokens. */
  readonly bank: SolanaKey;
  readonly reserve: SolanaKey;
  readonly treasury: SolanaKey;
  /** The mint authority of ABSR, 2 of 2 with the reserve; absent when the reserve mints alone. */
  readonly multisig?: { readonly address: string; readonly witness: SolanaKey };
  readonly mints: Readonly<Record<'usdc' | 'usdt' | 'asry' | 'absr', TestToken>>;
  /** Sends lamports or token atoms to an address; returns the signature. */
  faucet(address: string, asset: FaucetAsset, amount: bigint): Promise<string>;
  tokenAccount(owner: string, asset: 'usdc' | 'usdt' | 'asry' | 'absr'): Promise<string>;
  stop(): void;
}

export interface SolanaWorldOptions {
  readonly slotMs: number;
  readonly reserveLamports: bigint;
  /** Smallest units of ASRY that the reserve holds for payouts. */
  readonly asrySupply: bigint;
  /** Whether mints of ABSR need the signature of a witness. */
  readonly witness?: boolean;
  /** Block times, Unix milliseconds. */
  readonly now?: () => number;
}

export async function startSolanaWorld(options: SolanaWorldOptions): Promise<SolanaWorld> {
  const surfpool = startSurfpool({
    slotMs: options.slotMs,
    airdropLamports: 100_000n * LAMPORTS_PER_SOL,
  });
  const clock = await startSolanaClock(surfpool, options.slotMs);
  const ledger = createSolanaLedger(surfpool, clock, options.now);
  const [bank, reserve, treasury] = await Promise.all([
    createSolanaKey(surfpool.payerSeed),
    createSolanaKey(),
    createSolanaKey(),
  ]);

  await transferSol(ledger, bank.signer, reserve.address, options.reserveLamports);
  // A transfer would be a payment that matches no request, and so an open alarm.
  await ledger.plant(treasury.address, LAMPORTS_PER_SOL, new Uint8Array(), SYSTEM_PROGRAM_ADDRESS);
  const witness = options.witness ? await createSolanaKey() : undefined;
  const multisig = witness && {
    address: await createPair(ledger, bank.signer, [reserve.address, witness.address]),
    witness,
  };
  const mints = {
    usdc: await createMint(ledger, bank.signer, bank.signer, 6),
    usdt: await createMint(ledger, bank.signer, bank.signer, 6),
    asry: await createMint(ledger, bank.signer, bank.signer, 9),
    absr: await createMint(ledger, bank.signer, reserve.signer, 0, multisig?.address),
  };
  await mintTo(ledger, bank.signer, mints.asry, reserve.address, options.asrySupply);
  const all = Object.values(mints).map(({ mint }) => mint);
  await createTokenAccounts(ledger, bank.signer, treasury.address, all);
  clock.root();

  return {
    ledger,
    bank,
    reserve,
    treasury,
    mints,
    ...(multisig && { multisig }),
    async faucet(address, asset, amount) {
      if (asset === 'sol') return (await transferSol(ledger, bank.signer, address, amount)).signature;
      return mintTo(ledger, bank.signer, mints[asset], address, amount);
    },
    tokenAccount: (owner, asset) => tokenAccountOf(owner, mints[asset].mint),
    stop() {
      clock.stop();
      surfpool.stop();
    },
  };
}

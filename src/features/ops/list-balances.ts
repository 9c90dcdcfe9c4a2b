import { findAta } from '../../chain/solana/token-instructions.ts';
import { decodeMint, decodeTokenAccount } from '../../chain/solana/token-program.ts';
import { BTC_DECIMALS, formatAmount, SOL_DECIMALS } from '../../core/amount.ts';
import { failureReason } from '../../core/errors.ts';
import type { OpsRow } from './refund-store.ts';

export type BalancesDeps = {
  readonly reserve: { readonly solanaAddress: string | null; readonly bitcoinAddress: string | null };
  readonly treasuryAddress: string | null;
  /** Tokens of the service, with their common names. */
  readonly knownMints: readonly { readonly asset: string; readonly mint: string }[];
  readonly bitcoinSources: readonly {
    readonly name: string;
    balance(address: string): Promise<{ readonly confirmed: bigint; readonly pendingDelta: bigint }>;
  }[];
  /** Accounts on Solana at one slot, in the given order. */
  readAccounts(addresses: readonly string[]): Promise<{
    readonly accounts: readonly ({
      readonly owner: string;
      readonly lamports: bigint;
      readonly data: Uint8Array;
    } | null)[];
  }>;
};

/**
 * The balances of reserve and treasury, freshly read from the chains. A part that cannot be read shows the reason,
 * never zero.
 */
export async function listBalances(deps: BalancesDeps): Promise<{ ok: boolean; rows: OpsRow[] }> {
  const { bitcoinAddress } = deps.reserve;
  const explorers = bitcoinAddress === null ? [] : deps.bitcoinSources;
  const parts = await Promise.all([
    part('solana', () => solanaRows(deps)),
    ...explorers.map((source) => part(source.name, () => bitcoinRows(source, bitcoinAddress ?? ''))),
  ]);
  return { ok: parts.every(({ ok }) => ok), rows: parts.flatMap(({ rows }) => rows) };
}

async function part(source: string, read: () => Promise<OpsRow[]>): Promise<{ ok: boolean; rows: OpsRow[] }> {
  try {
    return { ok: true, rows: await read() };
  } catch (error) {
    return { ok: false, rows: [row('', '', '', null, 0, `${source}: ${failureReason(error)}`)] };
  }
}

const row = (
  holder: string,
  asset: string,
  address: string,
  atoms: bigint | null,
  decimals: number,
  note: string,
): OpsRow => ({
  holder,
  asset,
  amount: atoms === null ? null : formatAmount(atoms, decimals),
  atoms: atoms?.toString() ?? null,
  address,
  note,
});

async function bitcoinRows(source: BalancesDeps['bitcoinSources'][number], address: string) {
  const { confirmed, pendingDelta } = await source.balance(address);
  const pending = pendingDelta === 0n ? '' : `, ${pendingDelta} sats unconfirmed`;
  return [row('reserve', 'BTC', address, confirmed, BTC_DECIMALS, `${source.name}${pending}`)];
}

async function solanaRows({ reserve, treasuryAddress, knownMints, readAccounts }: BalancesDeps) {
  const holders = [
    ...(reserve.solanaAddress ? [['reserve', reserve.solanaAddress] as const] : []),
    ...(treasuryAddress && treasuryAddress !== reserve.solanaAddress
      ? [['treasury', treasuryAddress] as const]
      : []),
  ];
  const found = await readAccounts([
    ...holders.map(([, address]) => address),
    ...knownMints.map(({ mint }) => mint),
  ]);
  const coins = holders.map(([holder, address], at) =>
    row(holder, 'SOL', address, found.accounts[at]?.lamports ?? 0n, SOL_DECIMALS, ''),
  );
  const mints = knownMints.map(({ asset, mint }, at) => {
    const account = found.accounts[holders.length + at];
    return { asset, mint, ...(account ? decodeMint(account.owner, account.data) : undefined) };
  });
  const missing = mints
    .filter(({ program }) => program === undefined)
    .map(({ asset, mint }) => row('', asset, mint, null, 0, 'no such mint on this chain'));
  const held = holders.flatMap(([holder, owner]) =>
    mints.flatMap(({ asset, mint, program, decimals }) =>
      program === undefined
        ? []
        : [{ holder, asset, decimals: decimals ?? 0, account: findAta(owner, mint, program) }],
    ),
  );
  if (held.length === 0) return [...coins, ...missing];
  const { accounts } = await readAccounts(held.map(({ account }) => account));
  const tokens = held.map(({ holder, asset, decimals, account }, at) => {
    const data = accounts[at];
    const atoms = (data && decodeTokenAccount(data.owner, data.data)?.atoms) ?? 0n;
    return row(holder, asset, account, atoms, decimals, data ? '' : 'no account yet');
  });
  return [...coins, ...tokens, ...missing];
}

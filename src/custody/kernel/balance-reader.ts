/**
 * The reserve's balance, read once for all who ask at the same time.
 * @module
 */
import type { ChainPort } from './solana-view.ts';
import type { Balance } from './spending-limits.ts';

/** Finalized, never older than the slot. @throws AppError UPSTREAM_FAILED */
export type BalanceReader = (minSlot: bigint) => Promise<Balance>;

/** A balance so young is shared. */
const FRESH_MS = 1_000;

export function createBalanceReader(chain: Pick<ChainPort, 'balance'>, now: () => number): BalanceReader {
  let latest: { at: number; balance: Promise<Balance> } | undefined;
  return async (minSlot) => {
    if (latest && now() - latest.at < FRESH_MS) {
      // A failure is shared as well: a chain that is down is not asked once for every caller.
      const shared = await latest.balance;
      if (shared.slot >= minSlot) return shared;
    }
    const balance = chain.balance(minSlot);
    latest = { at: now(), balance };
    return balance;
  };
}

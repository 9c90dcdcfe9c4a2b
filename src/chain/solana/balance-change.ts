/**
 * The effect of a transaction on an account, from the balances that the chain stores with it, not from its
 * instructions.
 * @module
 */

/** The balances of a transaction, indexed like its accounts. */
export type LamportBalances = {
  readonly accounts: readonly string[];
  readonly preLamports: readonly bigint[];
  readonly postLamports: readonly bigint[];
};

/** Lamports that an account gained, negative if it lost some; undefined if it took no part. */
export function lamportsChange(transaction: LamportBalances, address: string): bigint | undefined {
  const index = transaction.accounts.indexOf(address);
  const before = transaction.preLamports[index];
  const after = transaction.postLamports[index];
  return before === undefined || after === undefined ? undefined : after - before;
}

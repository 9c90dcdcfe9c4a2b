/**
 * Waits inside a request, not in the custodian: the custodian only reads what is already finalized.
 * @module
 */

/** The most advanced status that any node reports for a transaction. */
export type TransactionStatus = 'unknown' | 'pending' | 'final';

export type FinalityPorts = {
  /** @throws AppError UPSTREAM_FAILED when no node answers */
  readonly transactionStatus: (signature: string) => Promise<TransactionStatus>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

export const POLL_MS = 800;

/**
 * Polls until a transaction is final or the time is up; returns its last status.
 *
 * @param unknownMs longest wait while no node has the transaction, or no node answers
 * @param pendingMs longest wait in total
 * @throws AppError UPSTREAM_FAILED when the last poll of that time failed
 */
export async function waitForFinality(
  p: FinalityPorts,
  signature: string,
  { unknownMs, pendingMs }: { readonly unknownMs: number; readonly pendingMs: number },
): Promise<TransactionStatus> {
  const started = p.now();
  const isOver = (limit: number): boolean => p.now() - started >= limit;
  for (;;) {
    let failure: unknown;
    const status = await p.transactionStatus(signature).catch((error: unknown) => {
      failure = error;
      return undefined;
    });
    if (status === 'final') return status;
    if (isOver(unknownMs)) {
      if (status === undefined) throw failure;
      if (status === 'unknown') return status;
    }
    if (isOver(pendingMs)) return status ?? 'pending';
    await p.sleep(POLL_MS);
  }
}

/**
 * Waits for a transaction inside a request, not in the custodian: the custodian only reads what is already finalized.
 * @module
 */
import type { SolanaRpc } from './solana-rpc.ts';

export type TransactionStatus = 'unknown' | 'pending' | 'confirmed' | 'final';

/** The most advanced status that any node reports for a transaction. */
export async function transactionStatus(rpc: SolanaRpc, signature: string): Promise<TransactionStatus> {
  const reads = await Promise.allSettled(rpc.nodes.map((node) => node.signatureStatus(signature)));
  const seen = reads.flatMap((read) => (read.status === 'fulfilled' ? [read.value.status] : []));
  // No node responded: throws the first node's failure.
  if (seen.length === 0) await rpc.first((node) => node.signatureStatus(signature));
  if (seen.some((status) => status?.commitment === 'finalized')) return 'final';
  if (seen.some((status) => status?.commitment === 'confirmed')) return 'confirmed';
  // A failed node may have the transaction.
  return seen.length === reads.length && seen.every((status) => status === null) ? 'unknown' : 'pending';
}

export type FinalityPorts = {
  /** @throws AppError UPSTREAM_FAILED when no node answers */
  readonly transactionStatus: (signature: string) => Promise<TransactionStatus>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

export const POLL_MS = 800;

/**
 * Polls until a transaction has reached a status or the time is up; returns its last status.
 *
 * @param until     `final` unless given
 * @param unknownMs longest wait while no node has the transaction, or no node answers
 * @param pendingMs longest wait in total
 * @throws AppError UPSTREAM_FAILED when the last poll of that time failed
 */
export async function waitForFinality(
  p: FinalityPorts,
  signature: string,
  {
    unknownMs,
    pendingMs,
    until = 'final',
  }: { readonly unknownMs: number; readonly pendingMs: number; readonly until?: 'confirmed' | 'final' },
): Promise<TransactionStatus> {
  const started = p.now();
  const isOver = (limit: number): boolean => p.now() - started >= limit;
  for (;;) {
    let failure: unknown;
    const status = await p.transactionStatus(signature).catch((error: unknown) => {
      failure = error;
      return undefined;
    });
    if (status === 'final' || status === until) return status;
    if (isOver(unknownMs)) {
      if (status === undefined) throw failure;
      if (status === 'unknown') return status;
    }
    if (isOver(pendingMs)) return status ?? 'pending';
    await p.sleep(POLL_MS);
  }
}

import { AppError, upstreamFailed } from '../../core/errors.ts';
import { type FinalityPorts, POLL_MS, waitForFinality } from '../../core/wait-for-finality.ts';
import type { ClaimAnswer, ClaimRequest, CustodianApi } from '../../custody/api.ts';

export type ClaimFromDepositDeps = FinalityPorts & {
  readonly custody: Pick<CustodianApi, 'claimDeposit' | 'findClaim'>;
};

/**
 * Finality takes 32 slots: 7 to 13 s with slots of 200 to 400 ms. A call right after the deposit waits for
 * it.
 */
const FINALITY_WAIT_MS = 20_000;
/** Nodes show a transaction within a second or two after it was sent. */
const UNKNOWN_WAIT_MS = 5_000;

/**
 * Claims a deposit once it is final.
 * @throws AppError DEPOSIT_NOT_FOUND, or UPSTREAM_FAILED when the chain cannot be read
 */
export async function claimFromDeposit(d: ClaimFromDepositDeps, request: ClaimRequest): Promise<ClaimAnswer> {
  const started = d.now();
  // A claimed deposit is final: its record is enough.
  if (!(await d.custody.findClaim(request.signature))) {
    const waits = { unknownMs: UNKNOWN_WAIT_MS, pendingMs: FINALITY_WAIT_MS };
    const status = await waitForFinality(d, request.signature, waits).catch((error: unknown) => {
      throw unreadable(error);
    });
    if (status === 'unknown')
      throw new AppError('DEPOSIT_NOT_FOUND', 'No node has this transaction.', { retryAfterSeconds: 5 });
  }
  for (;;) {
    const answer = await d.custody.claimDeposit(request);
    const early = answer.type === 'refused' && answer.refusal.code === 'DEPOSIT_NOT_FINAL';
    // A transaction that is final on one node may not be final on every node that the custodian reads.
    if (!early || d.now() - started >= FINALITY_WAIT_MS) return answer;
    await d.sleep(POLL_MS);
  }
}

/** The contract requires status 500 when the chain cannot be read. */
export function unreadable(cause: unknown): AppError {
  const { message, details } = cause instanceof AppError ? cause : upstreamFailed('solana-rpc', 'unexpected');
  return new AppError('UPSTREAM_FAILED', message, {
    status: 500,
    retryAfterSeconds: 5,
    details,
    cause,
  });
}

import { AppError, upstreamFailed } from '../../core/errors.ts';
import type { ClaimAnswer, ClaimRequest, CustodianApi } from '../../custody/api.ts';

/** What the nodes together know of a transaction. */
export type DepositStatus = 'unknown' | 'pending' | 'final';

export type ClaimFromDepositDeps = {
  readonly custody: Pick<CustodianApi, 'claimDeposit' | 'findClaim'>;
  /** @throws AppError UPSTREAM_FAILED when no node answers */
  readonly depositStatus: (signature: string) => Promise<DepositStatus>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

/** Finality takes about 13 seconds; a caller who comes right after sending is not sent away. */
const FINALITY_WAIT_MS = 20_000;
/** A transaction that was just sent is known within a second or two. */
const UNKNOWN_WAIT_MS = 5_000;
const POLL_MS = 800;

/**
 * Claims a deposit once it is final. The wait is here, not in the custodian, which only ever reads what is final.
 * @throws AppError DEPOSIT_NOT_FOUND, or UPSTREAM_FAILED when the chain cannot be read
 */
export async function claimFromDeposit(d: ClaimFromDepositDeps, request: ClaimRequest): Promise<ClaimAnswer> {
  const started = d.now();
  const left = (limit: number): boolean => d.now() - started < limit;
  // What is claimed needs no chain any more.
  if (!(await d.custody.findClaim(request.signature))) await untilFinal(d, request.signature, left);
  for (;;) {
    const answer = await d.custody.claimDeposit(request);
    const early = answer.type === 'refused' && answer.refusal.code === 'DEPOSIT_NOT_FINAL';
    // Final for one node, not for all: the custodian asks every one of them.
    if (!early || !left(FINALITY_WAIT_MS)) return answer;
    await d.sleep(POLL_MS);
  }
}

/** Returns once the transaction is final, or the time is up. */
async function untilFinal(
  d: ClaimFromDepositDeps,
  signature: string,
  left: (limit: number) => boolean,
): Promise<void> {
  for (;;) {
    let failure: unknown;
    const status = await d.depositStatus(signature).catch((error: unknown) => {
      failure = error;
      return undefined;
    });
    if (status === 'final') return;
    if (!left(UNKNOWN_WAIT_MS)) {
      if (failure !== undefined) throw unreadable(failure);
      if (status === 'unknown')
        throw new AppError('DEPOSIT_NOT_FOUND', 'No node knows this transaction.', { retryAfterSeconds: 5 });
    }
    if (!left(FINALITY_WAIT_MS)) return;
    await d.sleep(POLL_MS);
  }
}

/** The contract answers 500 when the chain cannot be read. */
export function unreadable(cause: unknown): AppError {
  const { message, details } = cause instanceof AppError ? cause : upstreamFailed('solana-rpc', 'unexpected');
  return new AppError('UPSTREAM_FAILED', message, {
    status: 500,
    retryAfterSeconds: 5,
    details,
    cause,
  });
}

import { isTimeOver } from '../../core/due-time.ts';
import { DAY_MS, PROOF_EVERY_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import type { CustodianApi, ProofRecord, Refusal } from '../../custody/api.ts';
import { prewarmed, refreshing } from '../../http/cache-policy.ts';
import type { Cache, Cached } from '../../http/cached.ts';
import type { ProofStore } from './reserves-store.ts';

export type GetProofDeps = {
  readonly cache: Cache;
  readonly proofs: Pick<ProofStore, 'newest' | 'list' | 'listDaily'>;
  readonly custody: Pick<CustodianApi, 'proof'>;
  readonly now: () => number;
};

/** A proof contains its own time, so readers see its age. */
const POLICY = { ...prewarmed(DAY_MS), changedByOperations: true };
/** If the newest proof is older, the Worker calls the custodian, whose timer may have been lost. */
const OVERDUE_MS = PROOF_EVERY_MS + 5 * 60_000;
/** Maximum difference between the clocks of two machines. */
const CLOCK_SKEW_MS = 60_000;
/** True if the proof is too old, or if its time is further ahead than the skew, because the clock was then set back. */
const isOverdue = ({ timestamp }: ProofRecord, now: number): boolean =>
  isTimeOver(Date.parse(timestamp) + OVERDUE_MS, OVERDUE_MS + CLOCK_SKEW_MS, now);

/**
 * The newest proof: from the cache, from the archive, or from the custodian, which signs the first proof.
 * @throws AppError NOT_CONFIGURED, UPSTREAM_FAILED, CUSTODIAN_UNAVAILABLE
 */
export async function getProof(deps: GetProofDeps, refresh = false): Promise<Cached<ProofRecord>> {
  const read = await deps.cache.read('proof:newest', refreshing(POLICY, refresh), async () => {
    const archived = await deps.proofs.newest();
    if (archived && !isOverdue(archived, deps.now())) return archived;
    // If the custodian fails, the old proof is returned: it shows its own time.
    const answer = archived ? await deps.custody.proof().catch(() => undefined) : await deps.custody.proof();
    if (answer?.type === 'proof') return answer.proof;
    // The archive may have proofs of earlier addresses, even if the service has no key for the present one.
    if (archived && answer?.refusal.code !== 'NOT_CONFIGURED') return archived;
    throw refused(answer?.refusal);
  });
  // The operator chooses when to sign an offline proof.
  const isLate = !read.value.offline && isOverdue(read.value, deps.now());
  return { ...read, stale: read.stale || isLate };
}

function refused(refusal: Refusal | undefined): AppError {
  const {
    code = 'UPSTREAM_FAILED',
    message = 'No proof can be signed right now.',
    retryAfterSeconds,
  } = refusal ?? {};
  const { variables, ...details } = refusal?.details ?? {};
  return new AppError(code, message, {
    status: 503,
    retryAfterSeconds,
    details: typeof variables === 'string' ? { ...details, variables: [variables] } : details,
  });
}

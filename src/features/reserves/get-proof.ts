import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { AppError, databaseUnavailable } from '../../core/errors.ts';
import type { CustodianApi, ProofRecord } from '../../custody/api.ts';
import { type Cache, type Cached, prewarmed, refreshing } from '../../http/cached.ts';
import type { ProofStore } from './reserves-store.ts';

export type GetProofDeps = {
  readonly cache: Cache;
  readonly proofs: Pick<ProofStore, 'newest' | 'ofDay' | 'list'>;
  readonly custody: Pick<CustodianApi, 'proof'>;
  readonly now: () => number;
};

/** A proof contains its own time, so a reader sees how old it is. */
const POLICY = prewarmed(DAY_MS);
/** A proof is due each hour. If the newest proof is older, the Worker calls the custodian, whose alarm may be lost. */
const OVERDUE_MS = HOUR_MS + 5 * 60_000;

/**
 * The newest proof: from the cache, else from the archive, else from the custodian, which signs the first
 * one.
 * @throws AppError NOT_CONFIGURED, UPSTREAM_FAILED, CUSTODIAN_UNAVAILABLE, DATABASE_UNAVAILABLE
 */
export async function getProof(d: GetProofDeps, refresh = false): Promise<Cached<ProofRecord>> {
  return d.cache.read('proof:newest', refreshing(POLICY, refresh), async () => {
    const archived = await fromArchive(d.proofs.newest());
    if (archived && d.now() - Date.parse(archived.timestamp) < OVERDUE_MS) return archived;
    // If the custodian fails, the old proof is returned: it shows its own time.
    const answer = archived ? await d.custody.proof().catch(() => undefined) : await d.custody.proof();
    if (answer?.type === 'proof') return answer.proof;
    if (archived) return archived;
    throw refused(answer?.refusal);
  });
}

type Refusal = Extract<Awaited<ReturnType<CustodianApi['proof']>>, { type: 'refused' }>['refusal'];

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

/** @throws AppError NOT_FOUND when none was signed on that UTC date */
export async function getProofOfDay(d: Pick<GetProofDeps, 'proofs'>, day: string): Promise<ProofRecord> {
  const proof = await fromArchive(d.proofs.ofDay(day));
  if (!proof) throw new AppError('NOT_FOUND', 'No proof was signed on that date.');
  return proof;
}

/**
 * Lists stored proofs, the newest first.
 * @param page.before  only proofs signed before this time
 * @param page.isDaily only the last proof of each UTC day
 */
export const listProofs = (
  d: Pick<GetProofDeps, 'proofs'>,
  { limit, before, isDaily }: { readonly limit: number; readonly before?: string; readonly isDaily: boolean },
): Promise<readonly ProofRecord[]> => fromArchive(d.proofs.list(limit, before, isDaily));

const fromArchive = <T>(read: Promise<T>): Promise<T> =>
  read.catch((cause: unknown) => {
    throw databaseUnavailable('The archive cannot be read now.', cause);
  });

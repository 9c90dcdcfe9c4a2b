import type { AsryEpochView, CustodianApi } from '../../custody/api.ts';
import type { AsryMirror } from './asry-store.ts';

export type ListEpochsDeps = {
  readonly claims: Pick<AsryMirror, 'epochs'>;
  readonly custody: Pick<CustodianApi, 'listAsryEpochs'>;
  readonly now: () => number;
};

/** Epochs shown, newest first. */
const LIMIT = 100;

/** The current epoch (null before the first) and the past ones. */
export async function listEpochs(
  d: ListEpochsDeps,
): Promise<{ current: AsryEpochView | null; past: AsryEpochView[] }> {
  const seconds = Math.floor(d.now() / 1_000);
  const isCurrent = ({ startsAt, endsAt }: AsryEpochView) => startsAt <= seconds && seconds < endsAt;
  const mirrored = await d.claims.epochs(LIMIT).catch(() => []);
  // The first read after an epoch's start opens it in the custodian.
  const epochs = mirrored.some(isCurrent) ? mirrored : await d.custody.listAsryEpochs(LIMIT);
  return {
    current: epochs.find(isCurrent) ?? null,
    past: epochs.filter(({ endsAt }) => endsAt <= seconds),
  };
}

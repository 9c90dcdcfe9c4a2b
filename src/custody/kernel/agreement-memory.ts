/**
 * Keeps the newest contradiction between nodes in the journal, so that the status still shows it after a restart of the
 * object.
 * @module
 */
import type { Journal } from './journal.ts';
import { DISAGREEMENT_SHOWN_MS, type NodeAgreement } from './quorum.ts';

const KEY = 'nodes_disagreement';

type Memory = Pick<Journal, 'getMeta' | 'setMeta'>;

export function rememberDisagreement(journal: Memory, { disagreement }: NodeAgreement): void {
  if (!disagreement) return;
  const text = JSON.stringify(disagreement);
  if (journal.getMeta(KEY) !== text) journal.setMeta(KEY, text);
}

/** The agreement with the contradiction that an earlier instance saw, where this one has seen none. */
export function recallDisagreement(
  journal: Pick<Memory, 'getMeta'>,
  agreement: NodeAgreement,
  now: number,
): NodeAgreement {
  const text = journal.getMeta(KEY);
  if (agreement.disagreement || text === undefined) return agreement;
  const disagreement = JSON.parse(text) as NonNullable<NodeAgreement['disagreement']>;
  return now - disagreement.at < DISAGREEMENT_SHOWN_MS ? { ...agreement, disagreement } : agreement;
}

import { expect, it } from 'vitest';
import { openJournal } from '../../../src/custody/kernel/journal.ts';
import type { NodeAgreement } from '../../../src/custody/kernel/quorum.ts';
import { recallDisagreement, rememberDisagreement } from '../../../src/custody/kernel/quorum.ts';
import { NOW } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const CALM: NodeAgreement = { nodes: 2, quorum: 2, disagreement: null, quorumMissingSince: null };
const SEEN = { at: NOW, question: 'transaction x', nodes: ['a', 'b'] };

it('shows a contradiction for an hour after a restart, and a newer one instead of it', () => {
  const storage = createSqliteStorage();
  rememberDisagreement(openJournal(storage), { ...CALM, disagreement: SEEN });
  const restarted = openJournal(storage);
  rememberDisagreement(restarted, CALM);
  expect(recallDisagreement(restarted, CALM, NOW + 3_599_999)).toEqual({ ...CALM, disagreement: SEEN });
  expect(recallDisagreement(restarted, CALM, NOW + 3_600_000)).toEqual(CALM);
  const newer = { ...CALM, disagreement: { ...SEEN, at: NOW + 1 } };
  expect(recallDisagreement(restarted, newer, NOW + 1)).toEqual(newer);
});

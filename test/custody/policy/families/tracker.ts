/** S19: LI.FI's tracker, which ties the bytes to the quote. */
import { concatBytes } from '@noble/hashes/utils.js';
import { type Instruction, u32 } from '../../../world/lifi-transaction.ts';
import type { Draft } from '../draft.ts';
import { collect, type Family, us } from './family.ts';

const { list, near } = collect();

const tracker = (d: Draft): Instruction => {
  const found = d.instructions[2];
  if (!found) throw new Error('no tracker');
  return found;
};
near('the id of another quote', 'tracker_id', (d, r) => {
  const place = r.between(1, 8);
  tracker(d).data[place] = (tracker(d).data[place] ?? 0) ^ r.between(1, 255);
});
near('no tracker', 'tracker_count', (d) => d.instructions.splice(2, 1));
near('two trackers', 'tracker_count', (d) => d.instructions.push(tracker(d)));
near(
  'a tracker with a tail',
  'tracker_malformed',
  (d) => (tracker(d).data = concatBytes(tracker(d).data, u32(0))),
);
near('a tracker of another kind', 'tracker_malformed', (d, r) => (tracker(d).data[0] = r.between(1, 255)));
near(
  'our key given to the tracker',
  'tracker_account',
  (d, r) => (tracker(d).accounts[r.between(0, 1)] = us),
);
near('one account more for the tracker', 'tracker_malformed', (d) => tracker(d).accounts.push(us));

export const TRACKER_FAMILIES: readonly Family[] = list;

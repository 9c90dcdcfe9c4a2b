/** S13 to S15: our keys in unexpected positions. */
import { addressSeed } from '../../../../src/chain/solana/program-address.ts';
import { OWN, RESERVE, transfer } from '../draft.ts';
import { collect, type Family, LEG, leg } from './family.ts';

const { list, near, chainflip, both } = collect();

near(
  'a transfer to ourselves',
  'reserve_mentioned',
  (d) => (d.instructions[LEG] = transfer(RESERVE, d.amount - d.fee)),
);
both('an unneeded account of ours', 'own_account_touched', (d, r) => {
  d.version = 0;
  d.inTable = [];
  const own = r.pick(OWN);
  d.onTransaction = (t) => ({ ...t, keys: [...t.keys, own], readonlyUnsigned: t.readonlyUnsigned + 1 });
});
near(
  'the payment into an account of ours',
  'own_account_touched',
  (d, r) => (d.instructions[LEG] = transfer(r.pick(OWN), d.amount - d.fee)),
);
chainflip('our treasury as broker', 'own_key_in_data', (d, r) => {
  const data = leg(d).data.slice();
  data.set(addressSeed(r.pick([...OWN, RESERVE])), data.length - 4 - 32 - 3 - 32);
  leg(d).data = data;
});

export const OWN_KEYS_FAMILIES: readonly Family[] = list;

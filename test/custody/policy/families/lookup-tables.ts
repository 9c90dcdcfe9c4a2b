/** S7: keys hidden in lookup tables. */
import { concatBytes } from '@noble/hashes/utils.js';
import { addressSeed } from '../../../../src/chain/solana/program-address.ts';
import { LIFI_COLLECTOR } from '../../../../src/custody/policy/instructions.ts';
import { u64 } from '../../../world/lifi-transaction.ts';
import { type Draft, OWN, TABLE, THIEF } from '../draft.ts';
import { collect, type Family } from './family.ts';

const { list, near } = collect();

const tabled = (d: Draft) => {
  d.version = 0;
  d.inTable = [LIFI_COLLECTOR];
};
near('a table that one node does not have', 'table_unread', (d) => {
  tabled(d);
  d.onTable = (view, node) => (node === 1 ? null : view);
});
near('a table of another program', 'table_not_a_table', (d) => {
  tabled(d);
  d.onTable = (view) => ({ ...view, owner: THIEF });
});
near('a table that is being closed', 'table_deactivating', (d, r) => {
  tabled(d);
  const slot = BigInt(r.between(0, 2_000_000_000));
  d.onTable = (view) => {
    view.data.set(u64(slot), 4);
    return view;
  };
});
near('a table that is shorter', 'table_index', (d) => {
  tabled(d);
  d.onTable = (view) => ({ ...view, data: view.data.slice(0, 56) });
});
near('nodes that return two different tables', 'table_disagreement', (d) => {
  tabled(d);
  d.onTable = (view, node) => {
    if (node === 1) view.data.set(addressSeed(THIEF), 56);
    return view;
  };
});
near('a key of the message repeated in a table', 'key_loaded_twice', (d) => {
  tabled(d);
  d.onTable = (view) => {
    view.data.set(addressSeed(d.deposit), 56);
    return view;
  };
});
near('the fee to a third party, hidden in a table', 'payment_count', (d) => {
  tabled(d);
  d.onTable = (view) => {
    view.data.set(addressSeed(THIEF), 56);
    return view;
  };
});
near('a table that was never read', 'table_unread', (d) => {
  tabled(d);
  d.onTransaction = (t) => ({ ...t, tables: t.tables.map((one) => ({ ...one, table: THIEF })) });
});
near('an account of ours in a table', 'own_account_touched', (d, r) => {
  tabled(d);
  const own = addressSeed(r.pick(OWN));
  d.onTable = (view) => ({ ...view, data: concatBytes(view.data, own) });
  d.onTransaction = (t) => ({ ...t, tables: [{ table: TABLE, writable: [0], readonly: [1] }] });
});

export const LOOKUP_TABLES_FAMILIES: readonly Family[] = list;

/** S17: the state of the reserve and its accounts after a simulation. */
import type { Random } from '../../../simulator/random.ts';
import { OWN, RESERVE, THIEF } from '../draft.ts';
import { collect, type Family } from './family.ts';

const { list, near, both } = collect();

both(
  'a transaction that fails',
  'simulation_failed',
  (d, r) => (d.simulation.error = r.pick([{ InstructionError: [4, 'x'] }, 'AccountNotFound', false])),
);
both('a simulation without the reserve', 'simulation_incomplete', (d) =>
  d.simulation.accounts.delete(RESERVE),
);
near('a reserve that is gone', 'simulation_incomplete', (d) => {
  const one = d.simulation.accounts.get(RESERVE);
  d.simulation.accounts.set(RESERVE, { before: one?.before ?? null, after: null });
});
near('a simulation without an account of ours', 'simulation_incomplete', (d, r) =>
  d.simulation.accounts.delete(r.pick(OWN)),
);
const after =
  (
    key: (r: Random) => string,
    change: (state: { owner: string; lamports: bigint; data: Uint8Array }, r: Random) => void,
  ): Family['change'] =>
  (d, r) => {
    const address = key(r);
    const one = d.simulation.accounts.get(address);
    if (!one?.after) throw new Error('no state');
    const state = { ...one.after, data: one.after.data.slice() };
    change(state, r);
    d.simulation.accounts.set(address, { before: one.before, after: state });
  };
const reserve = () => RESERVE;
both(
  'a reserve with another owner',
  'reserve_owner_changed',
  after(reserve, (s) => (s.owner = THIEF)),
);
both(
  'a reserve with data',
  'reserve_data_changed',
  after(reserve, (s, r) => (s.data = new Uint8Array(r.between(1, 99)))),
);
both(
  'a drain',
  'reserve_overspent',
  after(reserve, (s, r) => (s.lamports -= BigInt(r.between(1, 7_000_000_000)))),
);
near(
  'a node that has not run it',
  'reserve_underspent',
  after(reserve, (s, r) => (s.lamports += BigInt(r.between(600_000, 9_000_000)))),
);
near('a reserve below its floor', 'balance_floor', (d) => {
  const one = d.simulation.accounts.get(RESERVE);
  if (!one?.before || !one.after) throw new Error('no state');
  const less = one.after.lamports - 99_999_999n;
  d.simulation.accounts.set(RESERVE, {
    before: { ...one.before, lamports: one.before.lamports - less },
    after: { ...one.after, lamports: one.after.lamports - less },
  });
});
const own = (r: Random) => r.pick(OWN);
both(
  'tokens that move',
  'own_account_changed',
  after(own, (s, r) => (s.data[64] = r.between(8, 255))),
);
near(
  'a token account with another owner',
  'own_account_changed',
  after(own, (s, r) => (s.data[r.between(32, 63)] = 9)),
);
near(
  'a token account with a delegate',
  'own_account_changed',
  after(own, (s) => (s.data[72] = 1)),
);
near(
  'a token account with a close authority',
  'own_account_changed',
  after(own, (s) => (s.data[129] = 1)),
);
near(
  'a token account of another program',
  'own_account_changed',
  after(own, (s) => (s.owner = THIEF)),
);
near(
  'rent that leaves a token account',
  'own_account_changed',
  after(own, (s) => (s.lamports -= 1n)),
);
near('a token account that is gone', 'own_account_changed', (d, r) => {
  const address = r.pick(OWN);
  const one = d.simulation.accounts.get(address);
  if (!one) throw new Error('no state');
  d.simulation.accounts.set(address, { before: one.before, after: null });
});

export const SIMULATION_FAMILIES: readonly Family[] = list;

/** Claims of one deposit with storage only: each payout begins and is never executed. */
import { openAsryStore } from '../../../src/custody/asry/asry-store.ts';
import { createClaims } from '../../../src/custody/asry/claims.ts';
import type { Begin } from '../../../src/custody/kernel/begin-operation.ts';
import { openJournal } from '../../../src/custody/kernel/journal.ts';
import { plannedOperation } from '../../../src/custody/kernel/operation.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import { terms } from '../../kit/simulated-custodian.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { PROGRAM, transactionOf } from './claim-simulation.ts';

export const DEPOSIT = {
  signature: depositSignature(90_001),
  sender: wallet(90_001),
  asset: 'USDC' as const,
  atoms: 100_000_000n,
  /** Seconds from the programme's start. */
  at: 60,
};
export const CLAIM = {
  signature: DEPOSIT.signature,
  asset: DEPOSIT.asset,
  skipReward: false,
  client: 'client',
};

export function createStoredClaims() {
  const storage = createSqliteStorage();
  const journal = openJournal(storage);
  const state = {
    now: Number(PROGRAM.startsAt) * 1_000 + 3_600_000,
    /** No node shows the receivers. */
    unread: false,
  };
  const now = () => state.now;
  const begin: Begin = async (kind, id, decide) =>
    storage.transaction(() => {
      const known = journal.get(id);
      if (known) return { type: 'known', operation: known };
      const decision = decide();
      if (!decision.ok)
        return 'refusal' in decision
          ? { type: 'refused', refusal: decision.refusal }
          : { type: 'declined', declined: decision.declined };
      const { claims: _claims, ...intent } = decision.intent;
      const operation = journal.insert(plannedOperation({ id, kind, ...intent, now: now() }));
      return { type: 'begun', operation };
    });
  const desk = createClaims(
    { journal, storage, begin, now, log: () => undefined },
    {
      reserveAddress: terms.reserve,
      mint: wallet(900_005),
      terms,
      program: PROGRAM,
      transaction: async () => transactionOf(DEPOSIT),
      readPayees: async (receivers) => {
        if (state.unread) throw new Error('the nodes are down');
        return receivers.map((accountOwner) => ({
          program: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
          decimals: 9,
          accountOwner,
          reserveAtoms: 10n ** 18n,
        }));
      },
      latestBlockhash: () => Promise.reject(new Error('not asked')),
      mirror: { recordsAfter: async () => [] },
      stop: async () => undefined,
      within: (work) => work,
    },
  );
  return { desk, storage, journal, now, state };
}

/** The stored claim of {@link DEPOSIT} with its one payout. */
export async function openClaimed() {
  const w = createStoredClaims();
  const store = openAsryStore(w.storage);
  await w.desk.claim(CLAIM);
  const [claim] = store.claims();
  const [payout] = store.payouts(DEPOSIT.signature);
  if (!claim || !payout) throw new Error('no claim');
  return { w, store, claim, payout };
}

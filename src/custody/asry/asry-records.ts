/**
 * Builds the public views of epochs, and the D1 rows of epochs and claims.
 * @module
 */
import { stringifyJson } from '../../core/json.ts';
import type { AsryEpochView } from '../api.ts';
import type { MirrorSource, ModuleTools } from '../kernel/module.ts';
import { type AsryStore, type Claim, decodeRow, type Payout } from './asry-store.ts';
import { type Epoch, entitlementOf, nextUnitRate, rewardsAt } from './epochs.ts';
import { claimPurpose } from './payout-operation.ts';

/**
 * A new epoch with the totals of its stored claims. After a loss of the journal, D1 may have had claims of an epoch
 * without the epoch itself.
 */
export function withItsClaims(store: AsryStore, epoch: Epoch): Epoch {
  const claims = store.claimsOf(epoch.number);
  const paid = claims.flatMap(({ signature }) =>
    store.payouts(signature).filter(({ state }) => state === 'paid'),
  );
  return {
    ...epoch,
    deposits: claims.reduce((most, { after }) => (after > most ? after : most), epoch.deposits),
    paid: paid.reduce((sum, { atoms }) => sum + atoms, epoch.paid),
    claims: claims.length,
  };
}

const DOLLAR = 1_000_000n;

export const epochView = (epoch: Epoch): AsryEpochView => ({
  number: epoch.number,
  startsAt: epoch.startsAt,
  endsAt: epoch.endsAt,
  capAtoms: epoch.cap,
  depthAtoms: epoch.depth,
  depositsAtoms: epoch.deposits,
  entitledAtoms: rewardsAt(epoch, epoch.deposits),
  paidAtoms: epoch.paid,
  nextUnitMicroAtoms: nextUnitRate(epoch, epoch.deposits, 6),
  nextDollarAtoms: entitlementOf(epoch, epoch.deposits, DOLLAR),
  claims: epoch.claims,
  price: epoch.price,
  decimals: epoch.decimals,
});

type SavingTools = Pick<ModuleTools, 'journal' | 'now'>;

/** Stores a claim and one of its payouts and queues the D1 update. Call inside a transaction. */
export function saveClaim(
  { journal, now }: SavingTools,
  store: AsryStore,
  claim: Claim,
  payout: Payout,
): void {
  const changed = { ...claim, changes: claim.changes + 1 };
  store.putPayout(payout);
  store.putClaim(changed);
  journal.publish('asry_claims', claim.signature, claimColumns(store, changed), now());
}

/** Stores an epoch and queues its D1 update. Call inside a transaction. */
export function saveEpoch({ journal, now }: SavingTools, store: AsryStore, epoch: Epoch): void {
  store.putEpoch(epoch);
  journal.publish('asry_epochs', String(epoch.number), epochColumns(epoch), now());
}

const claimColumns = (store: AsryStore, claim: Claim) => ({
  epoch: claim.epoch,
  created_at: new Date(claim.claimedAt).toISOString(),
  journal: stringifyJson({ claim, payouts: store.payouts(claim.signature) }),
});

const epochColumns = (epoch: Epoch) => ({
  created_at: new Date(epoch.startsAt * 1_000).toISOString(),
  journal: stringifyJson({ epoch, view: epochView(epoch) }),
});

/** Every epoch and claim. A restored claim advances its epoch, so epochs come first. */
export const mirroredClaims = (store: AsryStore, tools: SavingTools): readonly MirrorSource[] => [
  {
    table: 'asry_epochs',
    rowsAfter: (id, limit) =>
      store
        .epochsAfter(id, limit)
        .map((epoch) => ({ id: String(epoch.number), columns: epochColumns(epoch) })),
    restore(text) {
      const { epoch } = decodeRow<{ epoch: Epoch }>(text);
      if ((store.epoch(epoch.number)?.changes ?? -1) >= epoch.changes) return false;
      store.putEpoch(epoch);
      return true;
    },
  },
  {
    table: 'asry_claims',
    rowsAfter: (id, limit) =>
      store
        .claimsAfter(id, limit)
        .map((claim) => ({ id: claim.signature, columns: claimColumns(store, claim) })),
    restore(text) {
      const { claim, payouts } = decodeRow<{ claim: Claim; payouts: Payout[] }>(text);
      const own = store.claim(claim.signature);
      if ((own?.changes ?? -1) >= claim.changes) return false;
      const seq = own?.seq ?? (store.isFreeSeq(claim.seq) ? claim.seq : store.nextSeq());
      store.putClaim({ ...claim, seq });
      for (const payout of payouts) store.putPayout(payout);
      tools.journal.consumeOnce(`payment:${claim.signature}`, claimPurpose(claim.signature), tools.now());
      // D1 may have received the claim without its epoch's change. Two claims must not earn from the same part of the curve.
      const epoch = store.epoch(claim.epoch);
      if (epoch && epoch.deposits < claim.after)
        saveEpoch(tools, store, { ...epoch, deposits: claim.after, changes: epoch.changes + 1 });
      return true;
    },
  },
];

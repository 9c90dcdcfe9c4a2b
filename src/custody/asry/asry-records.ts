/**
 * Builds the public views of epochs, and the D1 rows of epochs and claims.
 * @module
 */
import { stringifyJson } from '../../core/json.ts';
import type { AsryEpochView } from '../api.ts';
import type { MirrorSource, ModuleTools } from '../kernel/module.ts';
import { type AsryStore, type Claim, decodeRow, type Payout } from './asry-store.ts';
import { type Epoch, entitlementOf, nextUnitRate, rewardsAt } from './epochs.ts';

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

/** Claims are adopted after their epochs, because `adopt` reads the epoch of a claim. */
export const mirroredClaims = (store: AsryStore): readonly MirrorSource[] => [
  {
    table: 'asry_epochs',
    rowsAfter: (id, limit) =>
      store
        .epochsAfter(id, limit)
        .map((epoch) => ({ id: String(epoch.number), columns: epochColumns(epoch) })),
    // An epoch that began again at the start of its curve would pay its highest rewards twice.
    adopt: (text) => store.putEpoch(decodeRow<{ epoch: Epoch }>(text).epoch),
  },
  {
    table: 'asry_claims',
    rowsAfter: (id, limit) =>
      store
        .claimsAfter(id, limit)
        .map((claim) => ({ id: claim.signature, columns: claimColumns(store, claim) })),
    adopt(text) {
      const { claim } = decodeRow<{ claim: Claim }>(text);
      const epoch = store.epoch(claim.epoch);
      // D1 may have received the claim without the change of its epoch.
      if (epoch && epoch.deposits < claim.after) store.putEpoch({ ...epoch, deposits: claim.after });
    },
  },
];

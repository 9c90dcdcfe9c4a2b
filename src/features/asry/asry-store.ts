/**
 * Claims and epochs as D1 mirrors them from the custodian. Read only.
 * @module
 */
import * as z from 'zod';
import type { AsryEpochView, ClaimPayoutView, ClaimView } from '../../custody/api.ts';

const atoms = z.string().regex(/^\d+$/).transform(BigInt);

const Payout = z.object({
  part: z.int(),
  atoms,
  state: z.enum(['owed', 'begun', 'paid']),
  reason: z.string().nullable(),
  operationId: z.string().nullable(),
  createdAt: z.number(),
  paidAt: z.number().nullable(),
});
const Claim = z.object({
  signature: z.string(),
  asset: z.enum(['USDC', 'USDT']),
  sender: z.string(),
  slot: atoms,
  blockTime: z.int(),
  credited: atoms,
  feeBps: z.int(),
  fee: atoms,
  net: atoms,
  epoch: z.int(),
  entitlement: atoms,
  left: atoms,
  claimedAt: z.number(),
});
const ClaimJournal = z.object({ claim: Claim, payouts: z.array(Payout) });
const EpochJournal = z.object({
  view: z.object({
    number: z.int(),
    startsAt: z.int(),
    endsAt: z.int(),
    capAtoms: atoms,
    depthAtoms: atoms,
    depositsAtoms: atoms,
    entitledAtoms: atoms,
    paidAtoms: atoms,
    nextUnitMicroAtoms: atoms,
    nextDollarAtoms: atoms,
    claims: z.int(),
    price: atoms.nullable(),
    decimals: z.int(),
  }),
});
const Operation = z.object({
  id: z.string(),
  status: z.enum(['waiting', 'finished', 'failed']),
  signature: z.string().nullable(),
  updated_at: z.iso.datetime().transform((text) => Date.parse(text)),
});
type Operation = z.infer<typeof Operation>;

export type AsryMirror = ReturnType<typeof createAsryMirror>;

export const createAsryMirror = (db: D1Database) => ({
  async claim(signature: string): Promise<ClaimView | undefined> {
    const row = await db
      .prepare('SELECT journal FROM asry_claims WHERE id = ?')
      .bind(signature)
      .first<{ journal: string }>();
    if (!row) return undefined;
    const { claim, payouts } = ClaimJournal.parse(JSON.parse(row.journal));
    const ids = payouts.flatMap(({ operationId }) => operationId ?? []);
    const operations = ids.length === 0 ? [] : await operationsOf(db, ids);
    return viewOf(
      claim,
      payouts.map((payout) => payoutOf(payout, operations)),
    );
  },

  /** Newest first. */
  async epochs(limit: number): Promise<AsryEpochView[]> {
    const { results } = await db
      .prepare('SELECT journal FROM asry_epochs ORDER BY CAST(id AS INTEGER) DESC LIMIT ?')
      .bind(limit)
      .all<{ journal: string }>();
    return results.map((row) => EpochJournal.parse(JSON.parse(row.journal)).view);
  },
});

async function operationsOf(db: D1Database, ids: readonly string[]): Promise<Operation[]> {
  const { results } = await db
    .prepare(
      `SELECT id, status, signature, updated_at FROM operations WHERE id IN (${ids.map(() => '?').join(', ')})`,
    )
    .bind(...ids)
    .all();
  return results.map((row) => Operation.parse(row));
}

/** As the custodian tells it, from rows of which one may be newer than the other. */
function payoutOf(payout: z.infer<typeof Payout>, operations: readonly Operation[]): ClaimPayoutView {
  const { part, atoms: promised, state, reason, createdAt, paidAt } = payout;
  const operation = operations.find(({ id }) => id === payout.operationId);
  const shared = { part, atoms: promised, createdAtMs: createdAt, signature: null, paidAtMs: null };
  if (state === 'owed')
    return reason === 'unread'
      ? { ...shared, status: 'pending', reason: null }
      : { ...shared, status: 'owed', reason };
  if (!operation?.signature) return { ...shared, status: 'pending', reason: null };
  const finished = operation.status === 'finished' ? operation.updated_at : null;
  const { signature } = operation;
  return { ...shared, status: 'sent', signature, reason: null, paidAtMs: paidAt ?? finished };
}

const viewOf = (claim: z.infer<typeof Claim>, payouts: readonly ClaimPayoutView[]): ClaimView => ({
  signature: claim.signature,
  asset: claim.asset,
  sender: claim.sender,
  slot: claim.slot,
  blockTime: claim.blockTime,
  creditedAtoms: claim.credited,
  feeBps: claim.feeBps,
  feeAtoms: claim.fee,
  netAtoms: claim.net,
  epoch: claim.epoch,
  entitlementAtoms: claim.entitlement,
  remainingAtoms: claim.left,
  claimedAtMs: claim.claimedAt,
  payouts,
});

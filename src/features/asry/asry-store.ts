/**
 * Claims and epochs from D1, which the custodian mirrors. Read only.
 * @module
 */
import * as z from 'zod';
import { type AsryEpochView, type ClaimView, claimView, payoutView } from '../../custody/api.ts';
import type { D1Reads } from '../../http/read-session.ts';

const atoms = z.string().regex(/^\d+$/).transform(BigInt);

const Payout = z.object({
  part: z.int(),
  atoms,
  state: z.enum(['owed', 'held', 'begun', 'paid']),
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
  reason: z.string().nullable(),
  signature: z.string().nullable(),
  updated_at: z.iso.datetime().transform((text) => Date.parse(text)),
});
type Operation = z.infer<typeof Operation>;

export type AsryMirror = ReturnType<typeof createAsryMirror>;

export const createAsryMirror = (db: D1Reads) => ({
  async claim(signature: string): Promise<ClaimView | undefined> {
    const row = await db
      .prepare('SELECT journal FROM asry_claims WHERE id = ?')
      .bind(signature)
      .first<{ journal: string }>();
    if (!row) return undefined;
    const { claim, payouts } = ClaimJournal.parse(JSON.parse(row.journal));
    const ids = payouts.flatMap(({ operationId }) => operationId ?? []);
    const operations = ids.length === 0 ? [] : await operationsOf(db, ids);
    return claimView(
      claim,
      payouts.map((payout) => {
        const operation = operations.find((row) => row.id === payout.operationId);
        return payoutView(payout, operation && operationView(operation));
      }),
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

async function operationsOf(db: D1Reads, ids: readonly string[]): Promise<Operation[]> {
  const { results } = await db
    .prepare(
      `SELECT id, status, reason, signature, updated_at FROM operations WHERE id IN (${ids.map(() => '?').join(', ')})`,
    )
    .bind(...ids)
    .all();
  return results.map((row) => Operation.parse(row));
}

const operationView = ({ signature, reason, status, updated_at }: Operation) => ({
  signature,
  reason,
  finishedAt: status === 'finished' ? updated_at : null,
});

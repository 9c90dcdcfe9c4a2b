/**
 * Claims and epochs from D1, which the custodian mirrors. Read only.
 * @module
 */
import * as z from 'zod';
import type { AsryEpochView, ClaimView } from '../../custody/api.ts';
import { payoutView } from '../../custody/payout-view.ts';
import { bornAtColumn, olderThan } from '../../http/birth-store.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { atomsColumn, journalRow, journalText, rowsOf } from '../../http/stored-rows.ts';

const Payout = z.object({
  part: z.int(),
  atoms: atomsColumn,
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
  slot: atomsColumn,
  blockTime: z.int(),
  creditedAtoms: atomsColumn,
  feeBps: z.int(),
  feeAtoms: atomsColumn,
  netAtoms: atomsColumn,
  epoch: z.int(),
  entitlementAtoms: atomsColumn,
  remainingAtoms: atomsColumn,
  claimedAtMs: z.number(),
});
const ClaimJournal = z.object({
  journal: journalText(z.object({ claim: Claim, payouts: z.array(Payout) })),
  bornAt: bornAtColumn,
});

/** `bornAt`: when the records began, if the claim is older. The service no longer pays an older claim. */
export type MirroredClaim = { readonly claim: ClaimView; readonly bornAt: number | null };
const Epoch = z.object({
  number: z.int(),
  startsAt: z.int(),
  endsAt: z.int(),
  capAtoms: atomsColumn,
  depthAtoms: atomsColumn,
  depositsAtoms: atomsColumn,
  entitledAtoms: atomsColumn,
  paidAtoms: atomsColumn,
  nextUnitMicroAtoms: atomsColumn,
  nextDollarAtoms: atomsColumn,
  claims: z.int(),
  price: atomsColumn.nullable(),
  decimals: z.int(),
});
const EpochJournal = journalRow(z.object({ view: Epoch }));
const Operation = z.object({
  id: z.string(),
  status: z.enum(['waiting', 'finished', 'failed']),
  reason: z.string().nullable(),
  signature: z.string().nullable(),
  updated_at: z.iso.datetime().transform((text) => Date.parse(text)),
});
type Operation = z.infer<typeof Operation>;

const CLAIM = `SELECT journal, ${olderThan('asry_claims')} AS bornAt FROM asry_claims WHERE id = ?`;

export type AsryMirror = ReturnType<typeof createAsryMirror>;

export const createAsryMirror = (db: D1Reads) => ({
  async claim(signature: string): Promise<MirroredClaim | undefined> {
    const [row] = await rowsOf(db, ClaimJournal, CLAIM, signature);
    if (!row) return undefined;
    const { claim, payouts } = row.journal;
    const ids = payouts.flatMap(({ operationId }) => operationId ?? []);
    const sql = `SELECT id, status, reason, signature, updated_at FROM operations WHERE id IN (${ids.map(() => '?').join(', ')})`;
    const operations = ids.length === 0 ? [] : await rowsOf(db, Operation, sql, ...ids);
    const views = payouts.map((payout) => {
      const operation = operations.find((row) => row.id === payout.operationId);
      return payoutView(payout, operation && operationView(operation));
    });
    return { claim: { ...claim, payouts: views }, bornAt: row.bornAt };
  },

  /** Newest first. */
  async epochs(limit: number): Promise<AsryEpochView[]> {
    const sql = 'SELECT journal FROM asry_epochs ORDER BY CAST(id AS INTEGER) DESC LIMIT ?';
    return (await rowsOf(db, EpochJournal, sql, limit)).map(({ view }) => view);
  },
});

const operationView = ({ signature, reason, status, updated_at }: Operation) => ({
  signature,
  reason,
  finishedAt: status === 'finished' ? updated_at : null,
});

/**
 * Payments that bought nothing, read from the custodian's mirror in D1.
 * @module
 */
import * as z from 'zod';
import type { OpsRow } from './routes.ts';

const Journal = z.object({
  signature: z.string(),
  requestId: z.string(),
  lamports: z.string(),
  payer: z.string().nullable(),
  reason: z.string(),
});

export type RefundStore = ReturnType<typeof createRefundStore>;

export const createRefundStore = (db: D1Database) => ({
  /** Refunds that are owed and not yet paid, oldest first. */
  async due(limit: number): Promise<OpsRow[]> {
    const { results } = await db
      .prepare(
        "SELECT created_at AS createdAt, journal FROM refunds WHERE status = 'due' ORDER BY created_at LIMIT ?",
      )
      .bind(limit)
      .all<{ createdAt: string; journal: string }>();
    return results.map(({ createdAt, journal }) => {
      const { requestId, lamports, payer, reason, signature } = Journal.parse(JSON.parse(journal));
      return { request: requestId, lamports, payer, reason, since: createdAt, payment: signature };
    });
  },
});

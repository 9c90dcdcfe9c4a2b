/**
 * Payments that bought nothing, read from the custodian's mirror in D1.
 * @module
 */
import * as z from 'zod';

/** A row of a table for the operator. */
export type OpsRow = Readonly<Record<string, string | number | null>>;

const Journal = z.object({
  signature: z.string(),
  requestId: z.string(),
  lamports: z.string(),
  payer: z.string().nullable(),
  reason: z.string(),
});

const PAGE = 200;

export type RefundStore = ReturnType<typeof createRefundStore>;

export const createRefundStore = (db: D1Database) => ({
  /** Unpaid refunds: those with a known payer first, the oldest first in each group. @param page from 1 */
  async due(page: number): Promise<OpsRow[]> {
    const { results } = await db
      .prepare(
        `SELECT created_at AS createdAt, journal FROM refunds WHERE status = 'due'
         ORDER BY journal ->> '$.payer' IS NULL, created_at, id LIMIT ? OFFSET ?`,
      )
      .bind(PAGE, PAGE * (page - 1))
      .all<{ createdAt: string; journal: string }>();
    return results.map(({ createdAt, journal }) => {
      const { requestId, lamports, payer, reason, signature } = Journal.parse(JSON.parse(journal));
      return { request: requestId, lamports, payer, reason, since: createdAt, payment: signature };
    });
  },
});

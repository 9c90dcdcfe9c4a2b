/**
 * Stores when the reference of each open request is next checked.
 * @module
 */
import type { Storage } from '../kernel/ports.ts';
import { type PaymentRequest, requestOf } from './request-store.ts';

const SCHEMA =
  'CREATE TABLE IF NOT EXISTS reference_checks (request_id TEXT PRIMARY KEY, due_at INTEGER NOT NULL)';

export type ReferenceStore = ReturnType<typeof openReferenceStore>;

/** @param storage with the table of requests */
export function openReferenceStore({ exec }: Storage) {
  exec(SCHEMA);

  return {
    /**
     * Open requests whose reference is due for a check, the most overdue first.
     * @param longest the longest wait for a check, in milliseconds
     */
    overdue(now: number, longest: number, limit: number): PaymentRequest[] {
      return exec(
        `SELECT r.row FROM requests r LEFT JOIN reference_checks c ON c.request_id = r.id
         WHERE r.state = 'open' AND (COALESCE(c.due_at, 0) <= ? OR c.due_at > ?) ORDER BY COALESCE(c.due_at, 0), r.created_at LIMIT ?`,
        now,
        now + longest,
        limit,
      ).map(requestOf);
    },

    /** The same, the newest request first. */
    newest(now: number, longest: number, limit: number): PaymentRequest[] {
      return exec(
        `SELECT r.row FROM requests r LEFT JOIN reference_checks c ON c.request_id = r.id
         WHERE r.state = 'open' AND (COALESCE(c.due_at, 0) <= ? OR c.due_at > ?) ORDER BY r.created_at DESC LIMIT ?`,
        now,
        now + longest,
        limit,
      ).map(requestOf);
    },

    /** The request, if it is open. */
    open(id: string): PaymentRequest | undefined {
      return exec("SELECT row FROM requests WHERE id = ? AND state = 'open'", id).map(requestOf)[0];
    },

    /** @param at Unix milliseconds, whole */
    checkAt(id: string, at: number): void {
      exec(
        `INSERT INTO reference_checks (request_id, due_at) VALUES (?, ?)
         ON CONFLICT (request_id) DO UPDATE SET due_at = excluded.due_at`,
        id,
        at,
      );
    },

    /** Forgets requests that are not open. */
    purge(): void {
      exec(
        "DELETE FROM reference_checks WHERE request_id NOT IN (SELECT id FROM requests WHERE state = 'open')",
      );
    },
  };
}

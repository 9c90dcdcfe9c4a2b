import { CALL_LIMITS } from '../../core/call-limits.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { databaseUnavailable } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import type { RequestFingerprint } from '../../http/idempotency.ts';
import type { ExchangeAnswer } from './create-exchange.ts';

/**
 * A create that may have reached the provider. `in_progress` before it was sent, `done` with the response,
 * `unknown` when no trustworthy response arrived.
 */
export type ExchangeRequest =
  | { state: 'in_progress'; bodyHash: string; createdAt: number }
  | { state: 'done'; bodyHash: string; createdAt: number; answer: ExchangeAnswer }
  | { state: 'unknown'; bodyHash: string; createdAt: number };

type Row = { state: ExchangeRequest['state']; body_hash: string; created_at: string; answer: string | null };

/** Creates per client in any hour. They cost the client nothing, but the provider may block us. */
const MAX_CLIENT_HOUR = CALL_LIMITS.exchanges_per_hour.quota;

/** Every call throws AppError DATABASE_UNAVAILABLE when D1 does not answer. Times are Unix milliseconds. */
export class ExchangeStore {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  async find(keyHash: string): Promise<ExchangeRequest | undefined> {
    const row = await reach(() =>
      this.#db
        .prepare('SELECT state, body_hash, created_at, answer FROM exchange_requests WHERE key_hash = ?')
        .bind(keyHash)
        .first<Row>(),
    );
    if (!row) return undefined;
    const common = { bodyHash: row.body_hash, createdAt: Date.parse(row.created_at) };
    return row.state === 'done' && row.answer !== null
      ? { ...common, state: 'done', answer: parseJson(row.answer) as ExchangeAnswer }
      : { ...common, state: row.state === 'in_progress' ? 'in_progress' : 'unknown' };
  }

  /**
   * Takes the key. False when the key is taken, or when the client has reached its limit for the hour. The
   * row prevents a second create, so it is written first.
   */
  async claim({ keyHash, bodyHash }: RequestFingerprint, client: string, now: number): Promise<boolean> {
    const at = new Date(now).toISOString();
    const { meta } = await reach(() =>
      this.#db
        .prepare(
          `INSERT INTO exchange_requests (key_hash, body_hash, client, state, created_at, updated_at)
           SELECT ?1, ?2, ?3, 'in_progress', ?4, ?4
           WHERE (SELECT count(*) FROM exchange_requests WHERE client = ?3 AND created_at > ?5) < ?6
           ON CONFLICT (key_hash) DO NOTHING`,
        )
        .bind(keyHash, bodyHash, client, at, new Date(now - HOUR_MS).toISOString(), MAX_CLIENT_HOUR)
        .run(),
    );
    return meta.changes === 1;
  }

  /** Frees a key whose create was certainly refused. */
  async release(keyHash: string): Promise<void> {
    await reach(() =>
      this.#db
        .prepare("DELETE FROM exchange_requests WHERE key_hash = ? AND state = 'in_progress'")
        .bind(keyHash)
        .run(),
    );
  }

  /** A late response also replaces `unknown`. */
  async finish(keyHash: string, answer: ExchangeAnswer, now: number): Promise<void> {
    await reach(() =>
      this.#db
        .prepare(
          "UPDATE exchange_requests SET state = 'done', exchange_id = ?, answer = ?, updated_at = ? WHERE key_hash = ?",
        )
        .bind(answer.id, stringifyJson(answer), new Date(now).toISOString(), keyHash)
        .run(),
    );
  }

  /** @param reason machine-readable, for the operator */
  async markUnknown(keyHash: string, reason: string, now: number): Promise<void> {
    await reach(() =>
      this.#db
        .prepare(
          `UPDATE exchange_requests SET state = 'unknown', reason = ?, updated_at = ?
           WHERE key_hash = ? AND state = 'in_progress'`,
        )
        .bind(reason, new Date(now).toISOString(), keyHash)
        .run(),
    );
  }

  /** Deletes requests from before a time. */
  async purge(before: number): Promise<number> {
    const { meta } = await reach(() =>
      this.#db
        .prepare('DELETE FROM exchange_requests WHERE created_at < ?')
        .bind(new Date(before).toISOString())
        .run(),
    );
    return meta.changes;
  }
}

async function reach<T>(statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (cause) {
    throw databaseUnavailable('The database does not respond.', cause);
  }
}

/** How long an Idempotency-Key is stored. */
const KEPT_MS = 7 * DAY_MS;

/** Deletes older creates and returns their number. Safe to repeat. */
export const purgeExchange = (d: {
  exchanges: Pick<ExchangeStore, 'purge'>;
  now: () => number;
}): Promise<number> => d.exchanges.purge(d.now() - KEPT_MS);

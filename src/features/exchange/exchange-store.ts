import { CALL_LIMITS } from '../../core/call-limits.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import type { RequestFingerprint } from '../../http/idempotency.ts';
import type { ExchangeAnswer } from './create-exchange.ts';

/**
 * A create that may have reached the provider. `in_progress` from before it is sent until its outcome is stored, `done`
 * with the response, `unknown` when no trustworthy response arrived.
 */
export type ExchangeRequest =
  | { state: 'in_progress'; bodyHash: string; createdAt: number }
  | { state: 'done'; bodyHash: string; createdAt: number; answer: ExchangeAnswer }
  | { state: 'unknown'; bodyHash: string; createdAt: number };

type Row = { state: ExchangeRequest['state']; body_hash: string; created_at: string; answer: string | null };

/** Creates per client in any hour. They cost the client nothing, but the provider may block us. */
const MAX_CLIENT_HOUR = CALL_LIMITS.exchanges_per_hour.quota;

/** How long an Idempotency-Key is stored. */
const KEPT_MS = 7 * DAY_MS;

/** Times are Unix milliseconds. */
export class ExchangeStore {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** @returns the number of changed rows */
  async #change(sql: string, ...params: (string | number)[]): Promise<number> {
    const { meta } = await this.#db
      .prepare(sql)
      .bind(...params)
      .run();
    return meta.changes;
  }

  async find(keyHash: string): Promise<ExchangeRequest | undefined> {
    const row = await this.#db
      .prepare('SELECT state, body_hash, created_at, answer FROM exchange_requests WHERE key_hash = ?')
      .bind(keyHash)
      .first<Row>();
    if (!row) return undefined;
    const common = { bodyHash: row.body_hash, createdAt: Date.parse(row.created_at) };
    return row.state === 'done' && row.answer !== null
      ? { ...common, state: 'done', answer: parseJson(row.answer) as ExchangeAnswer }
      : { ...common, state: row.state === 'in_progress' ? 'in_progress' : 'unknown' };
  }

  /**
   * Writes the key's row before the provider is called, so that no second create is sent. False when the key already
   * has a row, or when the client has reached its limit for the hour.
   */
  async claim({ keyHash, bodyHash }: RequestFingerprint, client: string, now: number): Promise<boolean> {
    const claimed = await this.#change(
      `INSERT INTO exchange_requests (key_hash, body_hash, client, state, created_at, updated_at)
       SELECT ?1, ?2, ?3, 'in_progress', ?4, ?4
       WHERE (SELECT count(*) FROM exchange_requests WHERE client = ?3 AND created_at > ?5) < ?6
       ON CONFLICT (key_hash) DO NOTHING`,
      keyHash,
      bodyHash,
      client,
      iso(now),
      iso(now - HOUR_MS),
      MAX_CLIENT_HOUR,
    );
    return claimed === 1;
  }

  /** Frees a key whose create was certainly refused. */
  async release(keyHash: string): Promise<void> {
    await this.#change("DELETE FROM exchange_requests WHERE key_hash = ? AND state = 'in_progress'", keyHash);
  }

  /** A late response also replaces `unknown`. */
  async finish(keyHash: string, answer: ExchangeAnswer, now: number): Promise<void> {
    await this.#change(
      "UPDATE exchange_requests SET state = 'done', exchange_id = ?, answer = ?, updated_at = ? WHERE key_hash = ?",
      answer.id,
      stringifyJson(answer),
      iso(now),
      keyHash,
    );
  }

  /** @param reason machine-readable, for the operator */
  async markUnknown(keyHash: string, reason: string, now: number): Promise<void> {
    await this.#change(
      `UPDATE exchange_requests SET state = 'unknown', reason = ?, updated_at = ?
       WHERE key_hash = ? AND state = 'in_progress'`,
      reason,
      iso(now),
      keyHash,
    );
  }

  /** Deletes requests that are older than `KEPT_MS`, and returns their number. Safe to repeat. */
  purge(now: number): Promise<number> {
    return this.#change('DELETE FROM exchange_requests WHERE created_at < ?', iso(now - KEPT_MS));
  }
}

const iso = (ms: number): string => new Date(ms).toISOString();

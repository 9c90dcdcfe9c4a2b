/**
 * The bridge's quotes that callers use. Create calls and estimates have one budget each. The uses are stored, because the
 * object is evicted within the window.
 * @module
 */
import { Budget } from '../../core/budget.ts';
import type { QuoteBudgets } from '../../core/call-limits.ts';
import { DAY_MS } from '../../core/durations.ts';
import type { Refusal } from '../api.ts';
import type { Storage } from '../kernel/ports.ts';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS calls (purpose TEXT NOT NULL, client TEXT NOT NULL, at INTEGER NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS calls_by_purpose ON calls (purpose, at)`,
] as const;

type QuoteUse = keyof QuoteBudgets;

export class SwapQuotas {
  readonly #exec: Storage['exec'];
  readonly #now: () => number;
  readonly #budgets: QuoteBudgets;

  constructor({ exec }: Pick<Storage, 'exec'>, now: () => number, budgets: QuoteBudgets) {
    for (const statement of SCHEMA) exec(statement);
    this.#exec = exec;
    this.#now = now;
    this.#budgets = budgets;
  }

  /**
   * The refusal if all clients together have used up their quotes, or this client or its IP range has used its share.
   * @param client null for the service's own reads, or to check only the total
   */
  refusal(use: QuoteUse, client: string | null): Refusal | undefined {
    const verdict = this.#budget(use).check(client, this.#now());
    if (verdict.ok) return undefined;
    const retryAfterSeconds = Math.max(Math.ceil(verdict.retryAfterMs / 1_000), 1);
    const all = { retryAfterSeconds, details: { limit: use } };
    if (verdict.spentBy === 'all')
      return { ...all, code: 'QUOTE_BUDGET_SPENT', message: 'The quota of bridge quotes is used up.' };
    const message =
      'Your IP address, or its range, has used up its share of bridge quotes. Wait and try again.';
    return { ...all, code: 'RATE_LIMITED', message };
  }

  /** Records a quote, even if the bridge then refuses it. */
  record(use: QuoteUse, client: string | null): void {
    const query = 'INSERT INTO calls (purpose, client, at) VALUES (?, ?, ?)';
    this.#exec(query, use, client ?? '', this.#now());
  }

  used(use: QuoteUse): { readonly used: number; readonly maximum: number } {
    return { used: this.#budget(use).used(this.#now()), maximum: this.#budgets[use].total };
  }

  /**
   * Deletes uses that are older than a day, the longest window of a budget. A use that was recorded while the clock was
   * ahead counts from now.
   */
  purge(): void {
    const now = this.#now();
    this.#exec('DELETE FROM calls WHERE at < ?', now - DAY_MS);
    for (const use of Object.keys(this.#budgets))
      this.#exec('UPDATE calls SET at = ? WHERE purpose = ? AND at > ?', now, use, now);
  }

  #budget(use: QuoteUse): Budget {
    const terms = this.#budgets[use];
    const query = 'SELECT client, at FROM calls WHERE purpose = ? AND at > ? ORDER BY at';
    const uses = this.#exec(query, use, this.#now() - (terms.windowMs ?? 0)).map(({ client, at }) => ({
      client: client === '' ? null : String(client),
      at: Number(at),
    }));
    return new Budget(terms, uses);
  }
}

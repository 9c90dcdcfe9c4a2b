/**
 * The bridge's quotes that callers use. Creates and estimates have one budget each. The uses are stored, because the
 * object is evicted within the window.
 * @module
 */
import { Budget } from '../../core/budget.ts';
import type { QuoteBudgets } from '../../core/call-limits.ts';
import type { Refusal } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';

type QuoteUse = keyof QuoteBudgets;
type CallRecord = Pick<Journal, 'calls' | 'recordCall'>;

export class SwapQuotas {
  readonly #journal: CallRecord;
  readonly #now: () => number;
  readonly #budgets: QuoteBudgets;

  constructor(ports: {
    readonly journal: CallRecord;
    readonly now: () => number;
    readonly quoteBudgets: QuoteBudgets;
  }) {
    this.#journal = ports.journal;
    this.#now = ports.now;
    this.#budgets = ports.quoteBudgets;
  }

  /**
   * The refusal of a use if no quote is left for all clients or for the networks of this one.
   * @param client null for the service's own reads, or to ask only whether any quote is left
   */
  refusal(use: QuoteUse, client: string | null): Refusal | undefined {
    const verdict = this.#budget(use).check(client, this.#now());
    if (verdict.ok) return undefined;
    const retryAfterSeconds = Math.max(Math.ceil(verdict.retryAfterMs / 1_000), 1);
    const details = { limit: use };
    return verdict.spentBy === 'all'
      ? {
          code: 'QUOTE_BUDGET_SPENT',
          message: 'The quota of bridge quotes is used up.',
          retryAfterSeconds,
          details,
        }
      : {
          code: 'RATE_LIMITED',
          message: 'This network has used its share of bridge quotes. Wait and try again.',
          retryAfterSeconds,
          details,
        };
  }

  /** Records a quote, even if the bridge then refuses it. */
  record(use: QuoteUse, client: string | null): void {
    this.#journal.recordCall(use, client, this.#now());
  }

  used(use: QuoteUse): { readonly used: number; readonly maximum: number } {
    return { used: this.#budget(use).used(this.#now()), maximum: this.#budgets[use].total };
  }

  #budget(use: QuoteUse): Budget {
    const terms = this.#budgets[use];
    return new Budget(terms, this.#journal.calls(use, this.#now() - (terms.windowMs ?? 0)));
  }
}

/**
 * A scarce thing that callers share: calls of a node, quotes of the bridge, open requests. The total binds all callers
 * together. Within it each client network has a fair share, so that no network can take everything. The service's own work is
 * outside of a budget.
 * @module
 */
import { networksOf } from './client-network.ts';
import { isTimeOver } from './due-time.ts';

export type BudgetTerms = {
  /** Units of all callers together. Never exceeded. */
  readonly total: number;
  /** The part of the total that shares are taken of; the whole if absent. Beyond it, each client has the least share. */
  readonly fair?: number;
  /** A unit is free again this long after it was taken. Absent: when it is given back. */
  readonly windowMs?: number;
  /** The largest share of one client, if it is less than the fair share. */
  readonly most?: number;
};

/** A unit that a client has taken, at a time in Unix milliseconds. */
export type BudgetUse = { readonly client: string | null; readonly at: number };

export type BudgetVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** Whether this client has used its share, or all callers have used the total. */
      readonly spentBy: 'client' | 'all';
      /** Milliseconds until the unit that is free next; 0 without a window. */
      readonly retryAfterMs: number;
    };

/** Part of the rest that one client may use. */
const SHARES = 8;
const LEAST_SHARE = 2;

export class Budget {
  readonly #terms: BudgetTerms;
  /** In the order of the takes. */
  readonly #uses = new Set<BudgetUse>();
  readonly #used = new Map<string, number>();

  /** @param uses units that were taken before, in the order of the takes */
  constructor(terms: BudgetTerms, uses: Iterable<BudgetUse> = []) {
    this.#terms = terms;
    for (const use of uses) this.#add(use);
  }

  /** Takes one unit, if there is one. @param client null for a client that is not known, which has no share of its own */
  take(client: string | null, now: number): BudgetVerdict {
    const verdict = this.check(client, now);
    if (verdict.ok) this.#add({ client, at: now });
    return verdict;
  }

  /** Whether one unit could be taken now. */
  check(client: string | null, now: number): BudgetVerdict {
    this.#expire(now);
    if (this.#uses.size >= this.#terms.total) return this.#spent('all', now, () => true);
    for (const { network, times } of client === null ? [] : networksOf(client)) {
      if ((this.#used.get(network) ?? 0) < times * this.#share(network)) continue;
      return this.#spent('client', now, (use) => isOf(use, network));
    }
    return { ok: true };
  }

  /** Units that are taken now. */
  used(now: number): number {
    this.#expire(now);
    return this.#uses.size;
  }

  /** Gives back the newest unit of a client. */
  giveBack(client: string): void {
    const newest = [...this.#uses].findLast((use) => use.client === client);
    if (newest) this.#remove(newest);
  }

  /** An eighth of what other networks have left, but at least two. */
  #share(network: string): number {
    const { total, fair = total, most = Number.POSITIVE_INFINITY } = this.#terms;
    const left = fair - this.#uses.size + (this.#used.get(network) ?? 0);
    return Math.min(most, Math.max(LEAST_SHARE, Math.floor(left / SHARES)));
  }

  #spent(spentBy: 'client' | 'all', now: number, isBlocking: (use: BudgetUse) => boolean): BudgetVerdict {
    const { windowMs } = this.#terms;
    const first = [...this.#uses].find(isBlocking);
    const until = windowMs === undefined ? now : (first?.at ?? now) + windowMs;
    return { ok: false, spentBy, retryAfterMs: Math.max(until - now, 0) };
  }

  #expire(now: number): void {
    const { windowMs } = this.#terms;
    if (windowMs === undefined) return;
    for (const use of this.#uses) {
      if (!isTimeOver(use.at + windowMs, windowMs, now)) break;
      this.#remove(use);
    }
  }

  #add(use: BudgetUse): void {
    this.#uses.add(use);
    this.#count(use, 1);
  }

  #remove(use: BudgetUse): void {
    this.#uses.delete(use);
    this.#count(use, -1);
  }

  #count({ client }: BudgetUse, units: number): void {
    for (const { network } of client === null ? [] : networksOf(client)) {
      const used = (this.#used.get(network) ?? 0) + units;
      if (used > 0) this.#used.set(network, used);
      else this.#used.delete(network);
    }
  }
}

const isOf = ({ client }: BudgetUse, network: string): boolean =>
  client !== null && networksOf(client).some((level) => level.network === network);

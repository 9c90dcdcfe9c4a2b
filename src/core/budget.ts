/**
 * A scarce resource that callers share: calls to a node, bridge quotes, open requests. The total bounds all callers
 * together. One client may use an eighth of what the others have left, and at least two units, so that none uses all.
 * Its wider IP ranges may use a multiple of that share. The service's own work needs no budget.
 * @module
 */

import { type NetworkLevel, networksOf } from './client-network.ts';
import { isTimeOver } from './due-time.ts';

export type BudgetTerms = {
  /** Maximum units of all callers together. */
  readonly total: number;
  /**
   * The part of the total from which shares are computed; the whole total if absent. Once it is used up, each client
   * can have only two units.
   */
  readonly fair?: number;
  /** A unit is free again this long after it was taken. If absent, it is free when it is given back. */
  readonly windowMs?: number;
  /** The largest share of one client, even if an eighth of the rest is more. */
  readonly most?: number;
  /** Units reserved for work that serves several clients at once. That work uses only these units. */
  readonly kept?: number;
  /** A unit counts against its client's share for this long; for the whole window if absent. */
  readonly shareMs?: number;
};

/** A unit that a client has taken, at a time in Unix milliseconds. */
export type BudgetUse = { readonly client: string | null; readonly at: number };

export type BudgetVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** `client`: this client has used its share. `all`: all callers together have used the total. */
      readonly spentBy: 'client' | 'all';
      /** Milliseconds until a unit is free; 0 without a window. */
      readonly retryAfterMs: number;
    };

/** One client can use 1/n of the units that the others have left; this is n. */
const SHARES = 8;
const LEAST_SHARE = 2;

export class Budget {
  readonly #terms: BudgetTerms;
  /** Taken units, oldest first. */
  readonly #uses = new Set<BudgetUse>();
  /** Uses that count against a share, in the same order, and their number for each network. */
  readonly #recent = new Set<BudgetUse>();
  readonly #used = new Map<string, number>();
  /** Uses without a client. */
  #shared = 0;

  /** @param uses units taken earlier, oldest first */
  constructor(terms: BudgetTerms, uses: Iterable<BudgetUse> = []) {
    this.#terms = terms;
    for (const use of uses) this.#add(use);
  }

  /** Takes one unit if one is free. @param client null for an unknown client, which has no share */
  take(client: string | null, now: number): BudgetVerdict {
    const verdict = this.check(client, now);
    if (!verdict.ok) return verdict;
    this.#add({ client, at: now });
    return verdict;
  }

  /** Whether one unit could be taken now. */
  check(client: string | null, now: number): BudgetVerdict {
    this.#expire(now);
    const { total, kept, windowMs, shareMs = windowMs } = this.#terms;
    const isShared = client === null;
    const isSame = (use: BudgetUse) => kept === undefined || (use.client === null) === isShared;
    const used =
      kept === undefined ? this.#uses.size : isShared ? this.#shared : this.#uses.size - this.#shared;
    const most = kept === undefined ? total : isShared ? kept : total - kept;
    if (used >= most) return this.#spent('all', this.#uses, windowMs, now, isSame);
    for (const { network, times } of levelsOf(client)) {
      if ((this.#used.get(network) ?? 0) < times * this.#share(network)) continue;
      return this.#spent('client', this.#recent, shareMs, now, (use) => isOf(use, network));
    }
    return { ok: true };
  }

  /** Number of units in use. */
  used(now: number): number {
    this.#expire(now);
    return this.#uses.size;
  }

  /** Gives back the newest unit of a client. */
  giveBack(client: string): void {
    const newest = [...this.#uses].findLast((use) => use.client === client);
    if (newest) this.#remove(newest);
  }

  /** An eighth of the units that other networks have left, and at least two. */
  #share(network: string): number {
    const { total, kept, fair = total, most = Number.POSITIVE_INFINITY } = this.#terms;
    const used = this.#uses.size - (kept === undefined ? 0 : this.#shared);
    const left = fair - (kept ?? 0) - used + (this.#used.get(network) ?? 0);
    return Math.min(most, Math.max(LEAST_SHARE, Math.floor(left / SHARES)));
  }

  #spent(
    spentBy: 'client' | 'all',
    uses: Iterable<BudgetUse>,
    lastsMs: number | undefined,
    now: number,
    isBlocking: (use: BudgetUse) => boolean,
  ): BudgetVerdict {
    const first = [...uses].find(isBlocking);
    const until = lastsMs === undefined ? now : (first?.at ?? now) + lastsMs;
    return { ok: false, spentBy, retryAfterMs: Math.max(until - now, 0) };
  }

  #expire(now: number): void {
    const { windowMs, shareMs = windowMs } = this.#terms;
    if (shareMs !== undefined)
      for (const use of this.#recent) {
        if (!isTimeOver(use.at + shareMs, shareMs, now)) break;
        this.#forget(use);
      }
    if (windowMs !== undefined)
      for (const use of this.#uses) {
        if (!isTimeOver(use.at + windowMs, windowMs, now)) break;
        this.#remove(use);
      }
  }

  #add(use: BudgetUse): void {
    this.#uses.add(use);
    this.#recent.add(use);
    if (use.client === null) this.#shared += 1;
    this.#count(use, 1);
  }

  #remove(use: BudgetUse): void {
    this.#uses.delete(use);
    if (use.client === null) this.#shared -= 1;
    this.#forget(use);
  }

  /** Stops counting a unit against a share. */
  #forget(use: BudgetUse): void {
    if (this.#recent.delete(use)) this.#count(use, -1);
  }

  #count({ client }: BudgetUse, units: number): void {
    for (const { network } of levelsOf(client)) {
      const used = (this.#used.get(network) ?? 0) + units;
      if (used > 0) this.#used.set(network, used);
      else this.#used.delete(network);
    }
  }
}

const levelsOf = (client: string | null): readonly NetworkLevel[] =>
  client === null ? [] : networksOf(client);

const isOf = ({ client }: BudgetUse, network: string): boolean =>
  levelsOf(client).some((level) => level.network === network);

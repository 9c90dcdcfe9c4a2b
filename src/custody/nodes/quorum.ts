/**
 * Computes what the configured nodes agree on. A read that moves money is used only when a quorum of nodes agrees. A single
 * node that lies, hides or lags decides nothing. The quorum of `n` nodes is 1 of 1, 2 of 2, and the majority from 3 on.
 * @module
 */
import { failureReason, upstreamFailed } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { isForCaller } from '../../providers/admission.ts';
import { asUpstreamFailure, type ChainTransaction, RpcRefusal } from '../../providers/solana-rpc.ts';
import type { Log, Within } from '../kernel/ports.ts';

export const quorumOf = (nodes: number): number => Math.floor(nodes / 2) + 1;

export const quorumMissing = () => upstreamFailed('solana-rpc', 'quorum_missing');

export type Given<T> = { readonly node: string; readonly value: T };

/**
 * Decides from the responses so far; undefined while there are too few or they do not agree.
 * @param complete whether every node has responded or failed
 */
export type Decide<T, R> = (
  given: readonly Given<T>[],
  complete: boolean,
) => { readonly agreed: R } | undefined;

/** What one call to a node returned: the responses to several questions, and one figure. */
export type List<T> = { readonly values: readonly T[]; readonly figure: bigint };

export type NodeAgreement = {
  readonly nodes: number;
  readonly quorum: number;
  /** A disagreement within the last hour. Finalized data is the same on all nodes, so at least one node is wrong. */
  readonly disagreement: {
    /** Unix milliseconds. */
    readonly at: number;
    readonly question: string;
    readonly nodes: readonly string[];
  } | null;
  /**
   * Since when the nodes have not reached a quorum on a question, in Unix milliseconds; null during the first ten
   * minutes.
   */
  readonly quorumMissingSince: number | null;
  /** This question, and the nodes that did not respond when it was last repeated. */
  readonly quorumMissing: { readonly question: string; readonly nodes: readonly string[] } | null;
};

const DISAGREEMENT_SHOWN_MS = 3_600_000;
/** Nodes lag by seconds. If a quorum is missing for longer than this, the operator is alerted. */
const QUORUM_PATIENCE_MS = 10 * 60_000;
/** A question that is not repeated for this long is forgotten. */
const FORGET_MS = 30 * 60_000;
const MAX_WAITING = 100;

/** A question that no quorum has answered. Times are Unix milliseconds. */
type Waiting = { since: number; askedAt: number; alarmed: boolean; failed?: readonly string[] };

/** State for the next instance: the platform evicts an idle object before these times have passed. */
export type QuorumMemory = {
  readonly disagreement: NodeAgreement['disagreement'];
  readonly waiting: readonly (readonly [question: string, Waiting])[];
};

export type QuorumPorts<N> = {
  readonly nodes: readonly N[];
  readonly now: () => number;
  readonly log: Log;
};

export class Quorum<N extends { readonly name: string }> {
  /** Number of nodes that must agree. */
  readonly size: number;
  readonly #ports: QuorumPorts<N>;
  readonly #waiting = new Map<string, Waiting>();
  #disagreement: NodeAgreement['disagreement'] = null;

  constructor(ports: QuorumPorts<N>) {
    this.#ports = ports;
    this.size = quorumOf(ports.nodes.length);
  }

  /**
   * The response of a quorum, returned as soon as enough nodes agree. If a later response contradicts it, the operator
   * is alerted.
   * @param differ compares responses that can never differ between honest nodes; absent if nodes at different slots may
   * differ
   * @returns undefined if all nodes have responded without a quorum, but a quorum is possible later
   * @throws AppError UPSTREAM_FAILED `quorum_missing` if too few responded; `nodes_disagree` if they contradict each
   * other; a failure that a quorum shares; the first node's failure if all nodes fail
   */
  async ask<T, R>(
    question: string,
    read: (node: N) => Promise<T>,
    decide: Decide<T, R>,
    differ?: (a: T, b: T) => boolean,
  ): Promise<{ readonly agreed: R } | undefined> {
    const { nodes } = this.#ports;
    if (nodes.length === 0) throw upstreamFailed('solana-rpc', 'no_node');
    const given: Given<T>[] = [];
    const failures: unknown[] = Array<unknown>(nodes.length);
    let contradicted = false;
    const enough = Promise.withResolvers<void>();
    const reads = nodes.map(async (node, index) => {
      try {
        const value = await read(node);
        const other = differ && given.find((each) => differ(each.value, value));
        given.push({ node: node.name, value });
        if (other) {
          contradicted = true;
          this.#contradicts(question, [other.node, node.name]);
        }
      } catch (error) {
        failures[index] = error;
      }
      if (decide(given, false)) enough.resolve();
    });
    await Promise.race([Promise.all(reads), enough.promise]);
    const decided = decide(given, false) ?? decide(given, true);
    if (decided) {
      this.#waiting.delete(question);
      return decided;
    }
    const shared = sharedFailure(failures, this.size);
    // A quorum's refusal is a valid response, so the question does not lack a quorum.
    if (shared instanceof RpcRefusal) throw asUpstreamFailure(shared);
    // A caller's question may concern data that only one node has, so it does not alert the operator.
    if (!isForCaller())
      this.#waits(
        question,
        given.map(({ node }) => node),
      );
    const failed = shared ?? (given.length === 0 ? failures.find((error) => error !== undefined) : undefined);
    if (failed !== undefined) throw asUpstreamFailure(failed);
    if (contradicted) throw upstreamFailed('solana-rpc', 'nodes_disagree');
    if (given.length < this.size) throw upstreamFailed('solana-rpc', 'quorum_missing');
    return undefined;
  }

  /**
   * The highest figure that a quorum has reached; undefined while a missing response may still raise it. A single node
   * of three can neither raise nor lower it, however fast it responds.
   * @param complete whether every node has responded or failed
   */
  covered(figures: readonly bigint[], complete: boolean): bigint | undefined {
    const sorted = figures.toSorted((a, b) => (a > b ? -1 : 1));
    const missing = complete ? 0 : this.#ports.nodes.length - figures.length;
    const least = sorted[this.size - 1];
    return sorted[this.size - 1 - missing] === least ? least : undefined;
  }

  /**
   * Decides each value separately, so that a value which changes with each slot does not hide the others. Undefined
   * without a quorum.
   */
  each<T>(given: readonly Given<List<T>>[], isComplete: boolean) {
    const keyAt = (list: List<T>, at: number) => stringifyJson(list.values[at]) ?? '';
    const shown = (given[0]?.value.values ?? []).map(
      (_, at) => sameByKey(given, this.size, (list) => keyAt(list, at))?.[0],
    );
    const figures = given.map(({ value }) => value.figure);
    const figure = this.covered(figures, isComplete);
    const isEnough = isComplete ? shown.some((list) => list) : shown.every((list) => list);
    if (figure === undefined || !isEnough) return undefined;
    return { agreed: { values: shown.map((list, at) => list?.values[at]), figure } };
  }

  agreement(): NodeAgreement {
    const now = this.#ports.now();
    const patience = now - QUORUM_PATIENCE_MS;
    const [missing] = [...this.#waiting]
      .filter(([, entry]) => entry.since < patience && now - entry.askedAt < FORGET_MS)
      .toSorted(([, one], [, other]) => one.since - other.since);
    const isShown = this.#disagreement && now - this.#disagreement.at < DISAGREEMENT_SHOWN_MS;
    return {
      nodes: this.#ports.nodes.length,
      quorum: this.size,
      disagreement: isShown ? this.#disagreement : null,
      quorumMissingSince: missing?.[1].since ?? null,
      quorumMissing: missing ? { question: missing[0], nodes: missing[1].failed ?? [] } : null,
    };
  }

  memory(): QuorumMemory {
    return { disagreement: this.#disagreement, waiting: [...this.#waiting] };
  }

  recall({ disagreement, waiting }: QuorumMemory): void {
    this.#disagreement ??= disagreement;
    for (const [question, entry] of waiting)
      if (!this.#waiting.has(question)) this.#waiting.set(question, entry);
  }

  #waits(question: string, answered: readonly string[]): void {
    const { nodes, now, log } = this.#ports;
    const at = now();
    const entry = this.#waiting.get(question) ?? { since: at, askedAt: at, alarmed: false };
    entry.askedAt = at;
    // A start in the future was stored before the clock was set back.
    entry.since = Math.min(entry.since, at);
    entry.failed = nodes.map(({ name }) => name).filter((name) => !answered.includes(name));
    if (!entry.alarmed && at - entry.since > QUORUM_PATIENCE_MS) {
      entry.alarmed = true;
      const facts = { question, nodes: nodes.length, quorum: this.size, answered, failed: entry.failed };
      log({ level: 'alarm', event: 'quorum_missing', ...facts });
    }
    this.#waiting.delete(question);
    this.#waiting.set(question, entry);
    for (const [name, { askedAt }] of this.#waiting) {
      if (this.#waiting.size <= MAX_WAITING && at - askedAt < FORGET_MS) break;
      this.#waiting.delete(name);
    }
  }

  #contradicts(question: string, nodes: readonly string[]): void {
    const at = this.#ports.now();
    const known = this.#disagreement;
    const isKnown = known?.question === question && at - known.at < DISAGREEMENT_SHOWN_MS;
    this.#disagreement = { at, question, nodes };
    if (!isKnown) this.#ports.log({ level: 'alarm', event: 'nodes_disagree', question, nodes });
  }
}

const sharedFailure = (failures: readonly unknown[], quorum: number): unknown => {
  const known = failures.filter((error) => error !== undefined);
  return known.find(
    (error) => known.filter((other) => failureReason(other) === failureReason(error)).length >= quorum,
  );
};

/** The largest group of responses with the same key, if it is a quorum. */
export function sameByKey<T>(
  given: readonly Given<T>[],
  quorum: number,
  keyOf: (value: T) => string,
): readonly T[] | undefined {
  const groups = Map.groupBy(given, ({ value }) => keyOf(value));
  const group = [...groups.values()].find((members) => members.length >= quorum);
  return group?.map(({ value }) => value);
}

export const decideSame =
  <T>(quorum: number, keyOf: (value: T) => unknown): Decide<T, T> =>
  (given) => {
    const [first] = sameByKey(given, quorum, (value) => stringifyJson(keyOf(value)) ?? '') ?? [];
    return first === undefined ? undefined : { agreed: first };
  };

/** The members of a finalized transaction that every node stores. */
function essence(transaction: ChainTransaction): string {
  const { signature, slot, failed, fee, accounts, signers, preLamports, postLamports } = transaction;
  return stringifyJson([signature, slot, failed, fee, accounts, signers, preLamports, postLamports]);
}

/** Token balances by account; null if the node stores none. */
function tokenKey({ preTokens, postTokens }: ChainTransaction): string | null {
  if (!preTokens || !postTokens) return null;
  const sorted = (rows: NonNullable<ChainTransaction['preTokens']>) =>
    rows.toSorted((a, b) => (a.account < b.account ? -1 : 1));
  return stringifyJson([sorted(preTokens), sorted(postTokens)]);
}

const areDifferent = <T>(a: T | null, b: T | null): boolean => a !== null && b !== null && a !== b;

/** A node that lacks the transaction or some of its members does not contradict other nodes. */
export const transactionsDiffer = (a: ChainTransaction | null, b: ChainTransaction | null): boolean =>
  a !== b &&
  a !== null &&
  b !== null &&
  (essence(a) !== essence(b) ||
    areDifferent(tokenKey(a), tokenKey(b)) ||
    areDifferent(a.blockTime, b.blockTime));

/**
 * The finalized transaction of a quorum, or null when a quorum does not have it. Some nodes lack block time
 * and token balances; these are null unless a quorum gives the same value.
 */
export const decideTransaction =
  (quorum: number): Decide<ChainTransaction | null, ChainTransaction | null> =>
  (given, complete) => {
    const group = sameByKey(given, quorum, (value) => (value ? essence(value) : ''));
    if (!group) return undefined;
    const found = group.filter((value) => value !== null);
    const [first] = found;
    if (!first) return { agreed: null };
    const vouched = (keyOf: (value: ChainTransaction) => string | null): ChainTransaction | undefined =>
      found.find(
        (value) =>
          keyOf(value) !== null && found.filter((other) => keyOf(other) === keyOf(value)).length >= quorum,
      );
    const timed = vouched(({ blockTime }) => (blockTime === null ? null : String(blockTime)));
    const tokened = vouched(tokenKey);
    // Nodes differ in block time or token balances, and no quorum agrees on both, so there is no decision.
    const contradicts = found.some((a) => found.some((b) => transactionsDiffer(a, b)));
    if (contradicts && !(timed && tokened)) return undefined;
    // A node that has not responded yet may have the missing block time or token balances.
    if (!complete && !(timed && tokened)) return undefined;
    return {
      agreed: {
        ...first,
        blockTime: timed?.blockTime ?? null,
        preTokens: tokened?.preTokens ?? null,
        postTokens: tokened?.postTokens ?? null,
      },
    };
  };

/** Extra time for the other nodes once enough have responded, so that a hanging node delays a call only briefly. */
const LATE_MS = 1_000;

/**
 * The results so far, once every call has ended, or `LATE_MS` after enough calls have succeeded.
 * @param enough number of calls that must succeed
 */
export async function settled<T>(
  calls: readonly Promise<T>[],
  enough: number,
  within: Within,
): Promise<PromiseSettledResult<T>[]> {
  const results: PromiseSettledResult<T>[] = [];
  const isEnough = Promise.withResolvers<void>();
  let succeeding = 0;
  let ended = 0;
  async function take(call: Promise<T>, index: number): Promise<void> {
    try {
      results[index] = { status: 'fulfilled', value: await call };
      succeeding += 1;
      if (succeeding === enough) isEnough.resolve();
    } catch (reason) {
      results[index] = { status: 'rejected', reason };
    }
    ended += 1;
  }
  const all = Promise.all(calls.map(take));
  await Promise.race([all, isEnough.promise]);
  if (ended < calls.length) await within(all, LATE_MS);
  // A copy without gaps, which later results cannot change.
  return results.filter(() => true);
}

export const valuesOf = <T>(results: readonly PromiseSettledResult<T>[]): T[] =>
  results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));

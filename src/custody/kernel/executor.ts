/**
 * Executes the state machine's effects and passes it the results. It makes no decisions: after a crash at any
 * await, the stored row alone determines the next step.
 * @module
 */
import { failureReason } from '../../providers/solana-rpc.ts';
import { freeze } from './journal-integrity.ts';
import type { OperationKind } from './module.ts';
import type { Kind, Landing, Operation, Signing } from './operation.ts';
import { ALARM_FAILURES, retryAfter } from './row-retries.ts';
import { createSigning, type Observe, type SigningPorts } from './sign-attempt.ts';
import type { ChainPort } from './solana-view.ts';
import {
  type Effect,
  effectOf,
  isDue,
  judgeAttempt,
  type NodeView,
  prunedNodes,
  step,
} from './state-machine.ts';

export type ExecutorPorts = SigningPorts & {
  readonly chain: ChainPort;
  readonly kinds: Readonly<Record<Kind, OperationKind | undefined>>;
  /** False until the journal is verified. Before that, no row is processed. */
  readonly isVerified: () => boolean;
};

/** Consecutive effects of one operation before other operations run. */
const MAX_TURNS = 8;
/** Interval between checks of a row that awaits the operator. */
const HOLD_MS = 3_600_000;

export type Executor = ReturnType<typeof createExecutor>;

export function createExecutor(p: ExecutorPorts) {
  const { journal, chain, now, log } = p;
  const running = new Map<string, Promise<void>>();
  /** Consecutive exceptions of each operation's drive. */
  const failing = new Map<string, number>();
  /** Operations for which `history_too_short` was raised. */
  const undecidable = new Set<string>();

  const observe: Observe = (op, kind, seen) => {
    const next = step(op, seen, kind.rules, now());
    return next === op ? op : journal.update(op, next, now());
  };
  const prepare = createSigning(p, observe);

  async function send(op: Operation, kind: OperationKind, signing: Signing): Promise<void> {
    // An instance that was replaced after signing fails at this write, so its bytes are never sent.
    await p.storage.sync();
    const accepted = await chain.send(signing.wire);
    observe(op, kind, { type: 'sent', accepted });
  }

  /**
   * Raises an alarm once per instance when too few nodes keep the history since a signing: the outcome of the
   * attempt then cannot be proven.
   */
  function reportPruned(id: string, signing: Signing, views: readonly NodeView[]): void {
    const nodes = prunedNodes(signing, views);
    if (nodes.length === 0 || views.length - nodes.length >= chain.quorum || undecidable.has(id)) return;
    undecidable.add(id);
    log({ level: 'alarm', event: 'history_too_short', operation: id, slot: signing.slot.toString(), nodes });
  }

  async function watch(op: Operation, kind: OperationKind, signing: Signing): Promise<void> {
    const views = await chain.views(signing);
    const verdict = judgeAttempt(signing, views, chain.quorum);
    let landing: Landing | null = null;
    if (verdict === 'landed') {
      landing = await chain.landing(signing.signature).catch(() => null);
    } else if (verdict === 'unseen') {
      // Sent even when every node's view failed: a node that cannot report may still forward it.
      await chain.send(signing.wire);
      reportPruned(op.id, signing, views);
    }
    if (views.length === 0) return void observe(op, kind, { type: 'unreachable', reason: 'no_node' });
    // More left the reserve than the operation may move. Either our code or the chain is wrong, so signing
    // stops.
    const odd =
      landing && (landing.debit > op.reserved ? 'unexpected_debit' : kind.unforeseen?.(op, landing));
    if (odd) freeze(journal, odd, log);
    observe(op, kind, { type: 'viewed', views, quorum: chain.quorum, landing });
  }

  async function settle(op: Operation, kind: OperationKind): Promise<void> {
    const isTaken = (name: string) => (journal.consumerOf(name) ?? op.id) !== op.id;
    let settled: Awaited<ReturnType<OperationKind['settle']>>;
    try {
      settled = await kind.settle(op, isTaken);
    } catch (error) {
      const reason = failureReason(error);
      log({ level: 'warn', event: 'settle_failed', operation: op.id, reason });
      return void observe(op, kind, { type: 'unreachable', reason });
    }
    p.storage.transaction(() => {
      // Another operation may have consumed the same output in the meantime.
      if (settled.claims.some(isTaken)) {
        return void observe(op, kind, {
          type: 'settlement',
          settlement: { state: 'pending', detail: 'settling' },
        });
      }
      if (!observe(op, kind, { type: 'settlement', settlement: settled.settlement })) return;
      for (const name of settled.claims) journal.consumeOnce(name, op.id, now());
    });
  }

  async function perform(effect: Effect, op: Operation, kind: OperationKind): Promise<void> {
    if (effect === 'prepare') return prepare(op, kind);
    if (effect === 'settle') return settle(op, kind);
    if (!op.signing) return;
    return effect === 'send' ? send(op, kind, op.signing) : watch(op, kind, op.signing);
  }

  /** The row requires an effect that this version does not support. It is left unchanged for the operator. */
  function hold(op: Operation): void {
    log({ level: 'alarm', event: 'operation_held', operation: op.id, state: op.state });
    journal.update(op, { ...op, reason: op.reason ?? 'held_unknown_state', dueAt: now() + HOLD_MS }, now());
  }

  async function run(id: string): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      if (!p.isVerified()) return;
      const op = journal.get(id);
      const kind = op && p.kinds[op.kind];
      if (!op || !isDue(op, now())) return;
      const effect = kind ? effectOf(op) : 'none';
      if (!kind || effect === 'none') return hold(op);
      await perform(effect, op, kind);
    }
  }

  /** Postpones an operation whose drive threw. @throws in an instance that was replaced */
  function postpone({ id }: Operation, error: unknown): void {
    const failures = (failing.get(id) ?? 0) + 1;
    failing.set(id, failures);
    journal.postpone(id, now() + retryAfter(failures));
    const level = failures === ALARM_FAILURES ? 'alarm' : 'warn';
    log({ level, event: 'operation_failed', operation: id, error: String(error).slice(0, 200) });
  }

  return {
    /** Runs an operation's steps until it has to wait. Concurrent callers share one run. */
    drive(id: string): Promise<void> {
      const joined = running.get(id);
      if (joined) return joined;
      const started = run(id).finally(() => running.delete(id));
      running.set(id, started);
      return started;
    },

    /**
     * Drives due operations, at most `limit` of them. An operation whose drive throws is postponed, so that
     * it blocks neither the others nor the modules that run afterwards.
     */
    async driveDue(limit: number): Promise<void> {
      const due = journal.due(now(), limit);
      const driven = await Promise.allSettled(due.map((op) => this.drive(op.id)));
      for (const [at, op] of due.entries()) {
        const result = driven[at];
        if (result?.status === 'rejected') postpone(op, result.reason);
        else failing.delete(op.id);
      }
    },
  };
}

/**
 * Executes the state machine's effects: sign, send, watch, settle. It makes no decisions: after a crash at any
 * await, the stored row alone determines the next step. The only caller of the signer for transactions. Limits
 * and names are checked again in the critical section that stores the signed bytes, and only stored bytes are
 * sent.
 * @module
 */
import { failureReason } from '../../core/errors.ts';
import { ALARM_FAILURES, retryAfter } from './background.ts';
import type { Journal } from './journal.ts';
import { freeze } from './journal-integrity.ts';
import {
  decodePrepared,
  encodePrepared,
  type Facts,
  type Kind,
  type Landing,
  type Operation,
  type OperationKind,
  type Prepared,
  type Ready,
  type Settled,
  type Signing,
} from './operation.ts';
import type { Log, Signer, Storage } from './ports.ts';
import type { ChainPort } from './solana-view.ts';
import { type Budget, checkCap, type LimitReached } from './spending-limits.ts';
import {
  type Effect,
  effectOf,
  isDue,
  judgeAttempt,
  type NodeView,
  type Observation,
  prunedNodes,
  step,
} from './state-machine.ts';

export type Assemble = (
  message: Uint8Array,
  signature: Uint8Array,
  cosignatures: readonly Uint8Array[],
) => { wire: string; signature: string };

export type ExecutorPorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly chain: ChainPort;
  readonly signer: Signer;
  readonly kinds: Readonly<Record<Kind, OperationKind | undefined>>;
  readonly budgetOf: (kind: Kind) => Budget;
  readonly now: () => number;
  readonly log: Log;
  /** False until the journal is verified. Before that, no row is processed. */
  readonly isVerified: () => boolean;
  /**
   * Reason why nothing may be signed now, or undefined. It is read again in the critical section that stores
   * the signature.
   */
  readonly stop: (kind: Kind) => string | undefined;
  /**
   * Wire bytes of a signed message and its first signature. The first signature is the reserve's and the
   * transaction's id.
   */
  readonly assemble: Assemble;
};

/**
 * Stores the state machine's result for an observation. Undefined when the row has changed since it was read.
 */
type Observe = (op: Operation, kind: OperationKind, seen: Observation) => Operation | undefined;

/** Consecutive effects of one operation before other operations run. */
const MAX_TURNS = 8;
/** Interval between checks of a row that awaits the operator. */
const HOLD_MS = 3_600_000;
/**
 * For this long, a repeated request sends the stored message again. The rest of its blockhash's minute remains for
 * landing.
 */
const UNSIGNED_LIFE_MS = 20_000;

export type Executor = ReturnType<typeof createExecutor>;

export function createExecutor(p: ExecutorPorts) {
  const { journal, chain, now, log } = p;
  const running = new Map<string, Promise<void>>();
  /** Consecutive exceptions of each operation. */
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
    if (landing && landing.debit > op.reserved) freeze(journal, 'unexpected_debit', log);
    observe(op, kind, { type: 'viewed', views, quorum: chain.quorum, landing });
  }

  async function settle(op: Operation, kind: OperationKind): Promise<void> {
    const isTaken = (name: string) => (journal.consumerOf(name) ?? op.id) !== op.id;
    let settled: Settled | undefined;
    try {
      settled = await kind.settle(op, isTaken);
    } catch (error) {
      const reason = failureReason(error);
      log({ level: 'warn', event: 'settle_failed', operation: op.id, reason });
      return void observe(op, kind, { type: 'unreachable', reason });
    }
    if (!settled) return hold(op);
    const { settlement, claims } = settled;
    p.storage.transaction(() => {
      // Another operation may have consumed the same output in the meantime.
      if (claims.some(isTaken)) {
        return void observe(op, kind, {
          type: 'settlement',
          settlement: { state: 'pending', detail: 'settling' },
        });
      }
      if (!observe(op, kind, { type: 'settlement', settlement })) return;
      for (const name of claims) journal.consumeOnce(name, op.id, now());
    });
  }

  async function perform(effect: Effect, op: Operation, kind: OperationKind): Promise<void> {
    if (effect === 'prepare') return prepare(op, kind);
    if (effect === 'settle') return settle(op, kind);
    if (!op.signing) return;
    return effect === 'send' ? send(op, kind, op.signing) : watch(op, kind, op.signing);
  }

  /** The row requires an effect that this version does not support. It is left for the operator. */
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

  /** Postpones an operation whose step threw. @throws in an instance that was replaced */
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
     * Drives due operations, at most `limit` of them. An operation whose step throws is postponed, so that
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

/**
 * Returns the step that signs a planned operation and stores the signature, or records the reason against it.
 * The step sends nothing.
 */
function createSigning(p: Omit<ExecutorPorts, 'chain'>, observe: Observe) {
  const { journal, now, log } = p;

  const unprepared = ({ kind }: Operation, reason: string): Observation => ({
    type: 'unprepared',
    reason,
    waiting: journal.planned(kind),
  });

  const refusedOrLater = (
    op: Operation,
    kind: OperationKind,
    reason: string,
    outcome: Facts = {},
  ): Observation =>
    kind.rules.retriesPreparation ? unprepared(op, reason) : { type: 'refused', reason, outcome };

  /** The message to sign for this attempt: the one that was recently sent to a key service, or a new one. */
  async function messageOf(op: Operation, kind: OperationKind): Promise<Ready | { seen: Observation }> {
    const stored = journal.unsigned(op, now() - UNSIGNED_LIFE_MS, now());
    if (stored !== undefined) return decodePrepared(stored);
    try {
      const prepared = await kind.prepare(op);
      if (!prepared.ok) return { seen: declined(prepared) };
      if (p.signer.isRemote) {
        // Durable before the key service receives it. A repeated request then has the same bytes while their
        // blockhash lives.
        journal.storeUnsigned(op, encodePrepared(prepared), now());
        await p.storage.sync();
      }
      return prepared;
    } catch (error) {
      const reason = failureReason(error);
      log({ level: 'warn', event: 'prepare_failed', operation: op.id, reason });
      return { seen: unprepared(op, `upstream_${reason}`) };
    }
  }

  /** Prepares and signs the kind's transaction, or returns what happened to the intent instead. */
  async function sign(
    op: Operation,
    kind: OperationKind,
  ): Promise<{ prepared: Ready; signing: Signing } | { seen: Observation }> {
    const prepared = await messageOf(op, kind);
    if ('seen' in prepared) return prepared;
    const { message, cosignatures = [], signedAt } = prepared;
    try {
      const { wire, signature } = p.assemble(message, await p.signer.sign(message), cosignatures);
      return { prepared, signing: { signature, wire, ...signedAt } };
    } catch (error) {
      // Bytes that were signed but not stored are never sent, so the attempt had no effect.
      const reason = failureReason(error);
      log({ level: 'warn', event: 'sign_failed', operation: op.id, kind: op.kind, reason });
      const code = `upstream_${reason}`;
      return { seen: p.signer.isRemote ? { type: 'unsigned', reason: code } : unprepared(op, code) };
    }
  }

  async function prepare(op: Operation, kind: OperationKind): Promise<void> {
    const stopped = p.stop(op.kind);
    if (stopped) return void observe(op, kind, refusedOrLater(op, kind, stopped));
    const signed = await sign(op, kind);
    if ('seen' in signed) return void observe(op, kind, signed.seen);
    storeSigned(op, kind, signed.prepared, signed.signing);
  }

  /**
   * The cap that this operation would exceed together with the signed ones. Its cost is known only now, and
   * some kinds plan more operations than a window may hold.
   */
  function capReached({ kind, amount }: Operation, cost: bigint): LimitReached | undefined {
    const signed = journal.counting(now()).filter(({ state }) => state !== 'planned');
    for (const cap of p.budgetOf(kind).caps) {
      const verdict = checkCap(cap, kind, signed, { amount, cost }, now());
      if (!verdict.ok) return verdict;
    }
    return undefined;
  }

  /** One critical section: checks the current limits, consumes the names, stores the bytes. */
  function storeSigned(op: Operation, kind: OperationKind, prepared: Ready, signing: Signing): void {
    p.storage.transaction(() => {
      const stopped = p.stop(op.kind);
      if (stopped) return void observe(op, kind, refusedOrLater(op, kind, stopped));
      const reached = capReached(op, prepared.cost);
      if (reached) {
        const outcome = { availableAt: String(reached.availableAt) };
        return void observe(op, kind, refusedOrLater(op, kind, `limit_${reached.limit}`, outcome));
      }
      if (prepared.claims.some((name) => (journal.consumerOf(name) ?? op.id) !== op.id)) {
        return void observe(op, kind, { type: 'refused', reason: 'quote_reused' });
      }
      const { plan, cost } = prepared;
      const stored = observe(op, kind, { type: 'signed', signing, plan, cost });
      if (!stored) return;
      for (const name of prepared.claims) journal.consumeOnce(name, op.id, now());
    });
  }

  return prepare;
}

const declined = (prepared: Exclude<Prepared, { ok: true }>): Observation =>
  'found' in prepared
    ? { type: 'found', outcome: prepared.found }
    : { type: 'refused', reason: prepared.reason, outcome: prepared.outcome ?? {} };

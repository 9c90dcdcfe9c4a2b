/**
 * Carries the machine's effects out and feeds back what it saw. It decides nothing: after a crash at any await the
 * stored row alone says what is next.
 * @module
 */
import { failureReason } from '../../providers/solana-rpc.ts';
import type { Journal } from './journal.ts';
import { freeze } from './journal-integrity.ts';
import type { OperationKind, Prepared } from './module.ts';
import type { Kind, Landing, Operation, Signing } from './operation.ts';
import type { Log, Signer, Storage } from './ports.ts';
import { decodePrepared, encodePrepared } from './signer.ts';
import type { ChainPort } from './solana-view.ts';
import { type Budget, checkCap, type LimitReached } from './spending-limits.ts';
import { type Effect, effectOf, isDue, judgeAttempt, type Observation, step } from './state-machine.ts';

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
  /** False until the journal is known to be the true one: before that none of its rows is carried on. */
  readonly isVerified: () => boolean;
  /** Why nothing may be signed now; undefined when it may. Asked again in the same turn as the signed row. */
  readonly stop: (kind: Kind) => string | undefined;
  /** Wire bytes of a signed message and its first signature: the reserve's, which is the transaction's id. */
  readonly assemble: Assemble;
};

/** Effects of one operation in a row before others get their turn. */
const MAX_TURNS = 8;
/** A stored message is requested again for so long; of its blockhash's minute, the rest is left for landing. */
const UNSIGNED_LIFE_MS = 20_000;
/** How often a row that awaits the operator is checked. */
const HOLD_MS = 3_600_000;

type Ready = Extract<Prepared, { ok: true }>;

export type Executor = ReturnType<typeof createExecutor>;

export function createExecutor(p: ExecutorPorts) {
  const { journal, chain, now, log } = p;
  const running = new Map<string, Promise<void>>();

  /** Stores what an observation makes of a row. Undefined when the row has changed since it was read. */
  function observe(op: Operation, kind: OperationKind, seen: Observation): Operation | undefined {
    const next = step(op, seen, kind.rules, now());
    return next === op ? op : journal.update(op, next, now());
  }

  const unprepared = ({ kind }: Operation, reason: string): Observation => ({
    type: 'unprepared',
    reason,
    waiting: journal.planned(kind),
  });

  const refusedOrLater = (op: Operation, kind: OperationKind, reason: string): Observation =>
    kind.rules.retriesPreparation ? unprepared(op, reason) : { type: 'refused', reason };

  /** What the attempt is to sign: the message that a key service was asked for a moment ago, or a new one. */
  async function messageOf(op: Operation, kind: OperationKind): Promise<Ready | { seen: Observation }> {
    const stored = journal.unsigned(op, now() - UNSIGNED_LIFE_MS, now());
    if (stored !== undefined) return decodePrepared(stored);
    try {
      const prepared = await kind.prepare(op);
      if (!prepared.ok) return { seen: declined(prepared) };
      if (p.signer.isRemote) {
        // Durable before the service has it: a repeated request is for the same bytes while their blockhash lives.
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

  /** The kind's transaction with our signature, or what became of the intent instead. */
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
      // Bytes that were signed but not stored never leave: nothing has happened.
      const reason = failureReason(error);
      log({ level: 'warn', event: 'sign_failed', operation: op.id, reason });
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

  /** The cap that leaves no room for what this operation costs. Until it is signed its own row counts no cost. */
  function costRefusal(op: Operation, cost: bigint): LimitReached | undefined {
    const none = { amount: 0n, cost: 0n };
    for (const cap of p.budgetOf(op.kind).caps) {
      if (cap.adds({ ...none, cost }) === cap.adds(none)) continue;
      const verdict = checkCap(cap, op.kind, journal.counting(now()), { ...none, cost }, now());
      if (!verdict.ok) return verdict;
    }
    return undefined;
  }

  /** One critical section: the limits as they are now, the names taken, the bytes stored. */
  function storeSigned(op: Operation, kind: OperationKind, prepared: Ready, signing: Signing): void {
    p.storage.transaction(() => {
      const stopped = p.stop(op.kind);
      if (stopped) return void observe(op, kind, refusedOrLater(op, kind, stopped));
      const reached = costRefusal(op, prepared.cost);
      if (reached) {
        const outcome = { availableAt: String(reached.availableAt) };
        return void observe(op, kind, { type: 'refused', reason: `limit_${reached.limit}`, outcome });
      }
      if ((prepared.spend ?? 0n) > op.reserved) {
        return void observe(op, kind, { type: 'refused', reason: 'reserve_overspent' });
      }
      if (prepared.claims.some((name) => (journal.consumerOf(name) ?? op.id) !== op.id)) {
        return void observe(op, kind, { type: 'refused', reason: 'quote_reused' });
      }
      const { plan, cost, spend } = prepared;
      const known = spend === undefined ? { plan, cost } : { plan, cost, spend };
      const stored = observe(op, kind, { type: 'signed', signing, ...known });
      if (!stored) return;
      for (const name of prepared.claims) journal.consumeOnce(name, op.id, now());
    });
  }

  async function send(op: Operation, kind: OperationKind, signing: Signing): Promise<void> {
    // The fence: an instance that was replaced since it signed fails here, and its bytes never leave.
    await p.storage.sync();
    const accepted = await chain.send(signing.wire);
    observe(op, kind, { type: 'sent', accepted });
  }

  async function watch(op: Operation, kind: OperationKind, signing: Signing): Promise<void> {
    const views = await chain.views(signing);
    const verdict = judgeAttempt(signing, views, chain.quorum);
    let landing: Landing | null = null;
    if (verdict === 'landed') {
      landing = await chain.landing(signing.signature).catch(() => null);
    } else if (verdict === 'unseen') {
      // Also when no node gave a view: one that cannot tell may still carry.
      await chain.send(signing.wire);
    }
    if (views.length === 0) return void observe(op, kind, { type: 'unreachable', reason: 'no_node' });
    // More left than the operation may move: an error of ours or of the chain's, so signing stops.
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
      // Another operation may have taken the same output while this one looked.
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

  /** A row that asks for a look which this version does not know how to take: kept as it is, for the operator. */
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

  return {
    /** Takes an operation as far as it can go now. Callers join the run that is under way. */
    drive(id: string): Promise<void> {
      const joined = running.get(id);
      if (joined) return joined;
      const started = run(id).finally(() => running.delete(id));
      running.set(id, started);
      return started;
    },

    /** Drives what is due, at most `limit` operations. */
    async driveDue(limit: number): Promise<void> {
      const due = journal.due(now(), limit);
      const driven = await Promise.allSettled(due.map((op) => this.drive(op.id)));
      for (const result of driven) if (result.status === 'rejected') throw result.reason;
    },
  };
}

const declined = (prepared: Exclude<Prepared, { ok: true }>): Observation =>
  'found' in prepared
    ? { type: 'found', outcome: prepared.found }
    : { type: 'refused', reason: prepared.reason, outcome: prepared.outcome ?? {} };

/**
 * Executes the state machine's effects: sign, send, watch, settle. It makes no decisions: after a crash at any await,
 * the stored row alone determines the next step. Only this module requests signatures for transactions. The critical
 * section that stores the signed bytes checks the limits again, and uses the names that may be used only once, such as
 * `deposit:<address>`. Only stored bytes are sent. An operation of an earlier key is watched and settled, but never
 * signed.
 * @module
 */
import { DAY_MS } from '../../core/durations.ts';
import { upstreamFailure } from '../../core/errors.ts';
import { atPriority } from '../../providers/admission.ts';
import type { ChainPort } from '../nodes/solana-view.ts';
import { failureFacts, OPERATION } from './agenda.ts';
import { freezeByDebit, type SigningGate } from './journal-integrity.ts';
import type { ModuleTools } from './module.ts';
import { type NodeView, type Observation, prunedNodes } from './observation.ts';
import {
  type Facts,
  isTerminal,
  type Kind,
  type Landing,
  type Operation,
  type OperationKind,
  type Prepared,
  type Ready,
  type Settled,
  type Signing,
} from './operation.ts';
import type { Signer, Within } from './ports.ts';
import { code, held, KEY_ROTATED, type Reason, upstream } from './reason.ts';
import { type Balance, reachedLimit, reservedLamports } from './spending-limits.ts';
import { attemptVerdict, type Effect, effectOf, step } from './state-machine.ts';

export type Assemble = (
  message: Uint8Array,
  signature: Uint8Array,
  cosignatures: readonly Uint8Array[],
) => { wire: string; signature: string };

export type ExecutorPorts = Omit<
  ModuleTools,
  'isVerified' | 'stopBeginning' | 'drive' | 'finish' | 'reserveAddress'
> & {
  readonly within: Within;
  readonly chain: ChainPort;
  readonly signer: Signer;
  readonly kinds: Readonly<Record<Kind, OperationKind | undefined>>;
  /** Rows are processed only once the journal is verified. The section that stores a signature calls `stop` again. */
  readonly gate: Pick<SigningGate, 'isVerified' | 'stop'>;
  /** Wire bytes of a signed message, and the reserve's signature, which is the transaction's id. */
  readonly assemble: Assemble;
};

/** Maximum consecutive effects of one operation before other operations run. */
const MAX_TURNS = 8;
const HOLD_MS = 3_600_000;

/** The reason not to sign now, and the facts about it that the row stores. */
type NotNow = { readonly reason: Reason; readonly outcome?: Facts };

/** Maximum time that the timer waits for due operations before it begins its other work. */
const DRIVE_MS = 5_000;

export class Executor {
  readonly #ports: ExecutorPorts;
  readonly #running = new Map<string, Promise<void>>();

  constructor(ports: ExecutorPorts) {
    this.#ports = ports;
  }

  /**
   * Runs an operation's steps until it has to wait. Concurrent callers share one run. If a step throws, the operation
   * stays as it was and is postponed, so that it blocks no other work.
   * @throws only in an instance that was replaced
   */
  drive(id: string): Promise<void> {
    const joined = this.#running.get(id);
    if (joined) return joined;
    const { agenda } = this.#ports;
    const started = atPriority('own', () => this.#run(id))
      .catch((error: unknown) => void agenda.failed(OPERATION, id, failureFacts(error)))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, started);
    return started;
  }

  /**
   * Drives an operation whenever it is due, until it has ended or `waitMs` milliseconds have passed. If the timer
   * drives it at the same time, the call joins that run. Returns at once while the journal is unverified.
   */
  async finish(id: string, waitMs: number): Promise<void> {
    const { agenda, journal, now, within, gate } = this.#ports;
    const deadline = now() + waitMs;
    while (gate.isVerified() && now() < deadline) {
      await within(this.drive(id), deadline - now());
      const operation = journal.get(id);
      const dueAt = agenda.dueAt(OPERATION, id);
      if (!operation || isTerminal(operation) || dueAt === undefined) return;
      const pause = Math.min(dueAt, deadline) - now();
      if (pause > 0) await within(new Promise(() => undefined), pause);
    }
  }

  /**
   * Waits a limited time only: an operation with a slow upstream continues, the timer's other work begins, and the next
   * run joins it. Operations that already run take no place from those that wait.
   */
  async driveDue(limit: number): Promise<void> {
    const { agenda, within } = this.#ports;
    const due = agenda.due(OPERATION, limit + this.#running.size);
    const joined = due.filter((id) => this.#running.has(id));
    const begun = due.filter((id) => !this.#running.has(id)).slice(0, limit);
    await within(Promise.all([...joined, ...begun].map((id) => this.drive(id))), DRIVE_MS);
  }

  async #run(id: string): Promise<void> {
    const { agenda, journal, kinds, gate } = this.#ports;
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      if (!gate.isVerified()) return;
      const op = journal.get(id);
      const kind = op && kinds[op.kind];
      if (!op || !agenda.isDue(OPERATION, id)) return;
      const effect = kind ? effectOf(op) : 'none';
      if (!kind || effect === 'none') return this.#leaveToOperator(op);
      await this.#perform(effect, op, kind);
    }
  }

  async #perform(effect: Effect, op: Operation, kind: OperationKind): Promise<void> {
    if (effect === 'prepare') return this.#prepare(op, kind);
    if (effect === 'settle') return this.#settle(op, kind);
    if (!op.signing) return;
    return effect === 'send' ? this.#send(op, kind, op.signing) : this.#watch(op, kind, op.signing);
  }

  /** Stores the state machine's result for an observation. Undefined if the row has changed since it was read. */
  #observe(op: Operation, kind: OperationKind, seen: Observation): Operation | undefined {
    const { journal, now } = this.#ports;
    const next = step(op, seen, kind.rules, now());
    return next === op ? op : journal.update(op, next, now());
  }

  /** Holds a row for the operator, because this version does not know its next effect. */
  #leaveToOperator(op: Operation): void {
    const { journal, now, log } = this.#ports;
    log({ level: 'alarm', event: 'operation_held', operation: op.id, state: op.state });
    journal.update(op, { ...op, reason: op.reason ?? held('unknown_state'), dueAt: now() + HOLD_MS }, now());
  }

  async #send(op: Operation, kind: OperationKind, signing: Signing): Promise<void> {
    // If this instance was replaced after it signed, this sync fails, so the bytes are never sent.
    await this.#ports.storage.sync();
    if (signing.lacksSignature) return this.#complete(op, kind, signing);
    const accepted = await this.#ports.chain.send(signing.wire);
    this.#observe(op, kind, { type: 'sent', accepted });
  }

  async #watch(op: Operation, kind: OperationKind, signing: Signing): Promise<void> {
    const { chain } = this.#ports;
    const views = await chain.views(signing, op.signer);
    const verdict = attemptVerdict(signing, views, chain.quorum);
    let landing: Landing | null = null;
    if (verdict === 'landed') {
      landing = await chain.landing(signing.signature, op.signer).catch(() => null);
    } else if (verdict === 'unseen') {
      // The bytes are sent even when every node's view failed, because a node that cannot report may still forward
      // them.
      if (!signing.lacksSignature) await chain.send(signing.wire);
      this.#reportPruned(op.id, signing, views);
    }
    if (views.length === 0) return void this.#observe(op, kind, { type: 'unreachable' });
    // More left the reserve than the operation may move. Either our code or the chain is wrong, so signing stops.
    if (landing && landing.debit > op.reserved) freezeByDebit(this.#ports, op, signing, landing);
    const viewed = this.#observe(op, kind, { type: 'viewed', views, quorum: chain.quorum, landing });
    if (verdict === 'unseen' && viewed?.signing?.lacksSignature)
      await this.#complete(viewed, kind, viewed.signing);
  }

  /** Requests the signature of a key outside the service for a stored attempt, and stores the complete bytes. */
  async #complete(op: Operation, kind: OperationKind, { wire }: Signing): Promise<void> {
    if (!kind.complete || op.signer !== this.#ports.signer.address)
      return void this.#observe(op, kind, { type: 'unreachable' });
    const isStopped = (): boolean => {
      const by = this.#ports.gate.stop(op.kind);
      if (by !== undefined) this.#observe(op, kind, { type: 'incomplete', reason: { type: 'stopped', by } });
      return by !== undefined;
    };
    if (isStopped()) return;
    try {
      const complete = await kind.complete(op, wire);
      // Signing may have been stopped during the call.
      if (!isStopped()) this.#observe(op, kind, { type: 'completed', wire: complete });
    } catch (error) {
      const { reason } = this.#unread('sign_failed', op, error);
      this.#observe(op, kind, { type: 'incomplete', reason });
    }
  }

  /** Alerts once a day if too few nodes keep the history since a signature: the outcome then cannot be proven. */
  #reportPruned(id: string, signing: Signing, views: readonly NodeView[]): void {
    const { agenda, chain, log } = this.#ports;
    const nodes = prunedNodes(signing, views);
    if (nodes.length === 0 || views.length - nodes.length >= chain.quorum) return;
    if (!agenda.isDueAgain(`history_too_short ${id}`, DAY_MS)) return;
    log({ level: 'alarm', event: 'history_too_short', operation: id, slot: signing.slot.toString(), nodes });
  }

  async #settle(op: Operation, kind: OperationKind): Promise<void> {
    const { journal, storage, now } = this.#ports;
    const isUsed = (name: string) => this.#isUsed(op, name);
    let settled: Settled | undefined;
    try {
      settled = await kind.settle(op, isUsed);
    } catch (error) {
      this.#unread('settle_failed', op, error);
      return void this.#observe(op, kind, { type: 'unreachable' });
    }
    if (!settled) return this.#leaveToOperator(op);
    const { settlement, once } = settled;
    storage.transaction(() => {
      // Another operation may meanwhile have recorded the same Bitcoin output or refund as its own.
      if (once.some(isUsed)) {
        const pending = { state: 'pending', detail: 'settling' } as const;
        return void this.#observe(op, kind, { type: 'settlement', settlement: pending });
      }
      if (!this.#observe(op, kind, { type: 'settlement', settlement })) return;
      for (const name of once) journal.useOnce(name, op.id, now());
    });
  }

  /** Whether another operation uses a name that only one may use. */
  #isUsed({ id }: Operation, name: string): boolean {
    return (this.#ports.journal.userOf(name) ?? id) !== id;
  }

  /** Signs a planned operation and stores the signature, or records why it cannot be signed. Does not send it. */
  async #prepare(op: Operation, kind: OperationKind): Promise<void> {
    // A planned operation has no transaction that could land: it has never been signed, or a quorum has proven that its
    // last attempt ended.
    if (op.signer !== this.#ports.signer.address)
      return void this.#observe(op, kind, { type: 'refused', reason: KEY_ROTATED });
    let balance: Balance | undefined;
    try {
      if (kind.rules.coveredAt === 'signature')
        balance = await this.#ports.readBalance(this.#ports.journal.releasedSlot());
    } catch (error) {
      const unread = this.#unread('prepare_failed', op, error);
      return void this.#observe(op, kind, this.#unprepared(op, unread));
    }
    const early = this.#obstacle(op, 0n, balance);
    if (early) return void this.#observe(op, kind, this.#unprepared(op, early));
    const prepared = await this.#messageOf(op, kind);
    if ('seen' in prepared) return void this.#observe(op, kind, prepared.seen);
    const signed = await this.#sign(op, prepared);
    if ('seen' in signed) return void this.#observe(op, kind, signed.seen);
    this.#store(op, kind, prepared, signed, balance);
  }

  #unread(event: string, { id: operation, kind }: Operation, error: unknown): NotNow {
    const { reason, ...outcome } = upstreamFailure(error);
    this.#ports.log({ level: 'warn', event, operation, kind, reason });
    return { reason: upstream(reason), outcome };
  }

  /**
   * The reason why the operation cannot be signed now: signing is stopped, signed operations have used up a limit, or
   * the balance minus reservations is too low.
   * @param cost 0 until it is known
   */
  #obstacle(op: Operation, cost: bigint, balance: Balance | undefined): NotNow | undefined {
    const { journal, boundsOf, signer, now } = this.#ports;
    const stopped = this.#ports.gate.stop(op.kind);
    if (stopped !== undefined) return { reason: { type: 'stopped', by: stopped } };
    const { limits, keeps } = boundsOf(op.kind);
    const counted = journal.counting(signer.address, now(), op.kind);
    const signed = counted.filter(({ state }) => state !== 'planned');
    const reached = reachedLimit(limits, signed, { amount: op.amount, cost }, now());
    if (reached) {
      const outcome = { availableAt: String(reached.availableAt) };
      return { reason: { type: 'limit', by: reached.limit.name }, outcome };
    }
    if (balance === undefined) return undefined;
    // Another operation's reservation ended after the balance was read, so the balance may not show its outcome.
    if (balance.slot < journal.releasedSlot()) return { reason: upstream('balance_outdated') };
    const others = counted.filter(
      ({ id, kind, state }) => id !== op.id && (kind !== op.kind || state !== 'planned'),
    );
    const covered = balance.lamports >= reservedLamports(others) + op.reserved + keeps;
    return covered ? undefined : { reason: code('short_of_sol') };
  }

  #unprepared({ kind }: Operation, why: NotNow): Observation {
    const { length: waiting } = this.#ports.journal
      .open()
      .filter(({ kind: other, state }) => other === kind && state === 'planned');
    return { type: 'unprepared', ...why, waiting };
  }

  async #messageOf(op: Operation, kind: OperationKind): Promise<Ready | { seen: Observation }> {
    try {
      const prepared = await kind.prepare(op);
      return prepared.ok ? prepared : { seen: declined(prepared) };
    } catch (error) {
      return { seen: this.#unprepared(op, this.#unread('prepare_failed', op, error)) };
    }
  }

  async #sign(
    op: Operation,
    { message, cosign, lacksSignature, signedAt }: Ready,
  ): Promise<Signing | { seen: Observation }> {
    const { assemble, signer } = this.#ports;
    try {
      const own = await signer.sign(message);
      const { wire, signature } = assemble(message, own, (await cosign?.(own)) ?? []);
      return { signature, wire, ...(lacksSignature && { lacksSignature }), ...signedAt };
    } catch (error) {
      // Signed bytes that were not stored are never sent, so the next try prepares and signs a new message.
      const { reason } = this.#unread('sign_failed', op, error);
      return { seen: { type: 'unsigned', reason } };
    }
  }

  /** One critical section: checks limits and balance, uses the names in `once`, and stores the bytes. */
  #store(
    op: Operation,
    kind: OperationKind,
    prepared: Ready,
    signing: Signing,
    balance: Balance | undefined,
  ): void {
    const { journal, storage, now } = this.#ports;
    const { plan, cost, once } = prepared;
    storage.transaction(() => {
      const obstacle = this.#obstacle(op, cost, balance);
      if (obstacle) return void this.#observe(op, kind, this.#unprepared(op, obstacle));
      if (once.some((name) => this.#isUsed(op, name)))
        return void this.#observe(op, kind, { type: 'refused', reason: code('quote_reused') });
      if (!this.#observe(op, kind, { type: 'signed', signing, plan, cost })) return;
      for (const name of once) journal.useOnce(name, op.id, now());
    });
  }
}

const declined = (prepared: Exclude<Prepared, { ok: true }>): Observation =>
  'found' in prepared
    ? { type: 'found', outcome: prepared.found }
    : { type: 'refused', reason: code(prepared.reason), outcome: prepared.outcome ?? {} };

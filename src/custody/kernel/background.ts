/**
 * Runs all background work: the object's timer (`alarm`), the cron, the delivery of changes to D1, and retries. Stored
 * rows decide what is due, so work survives the loss of an instance. If the work of a module, operation or row throws,
 * it is reported and postponed, so that it does not block the rest.
 * @module
 */
import type { ChainPort } from '../nodes/solana-view.ts';
import type { OperatorView } from '../operator-api.ts';
import { failureFacts, OPERATION } from './agenda.ts';
import type { Executor } from './executor.ts';
import { isSuspect, type SigningGate } from './journal-integrity.ts';
import { REFUSED_ROW } from './mirror-queue.ts';
import type { CustodyModule, ModuleTools, Work } from './module.ts';
import { DELIVERIES, flushOutbox } from './outbox.ts';
import type { Mirror } from './ports.ts';

/** Maximum operations per timer run. Each makes up to four calls to each of two nodes: 40 calls in a run. */
const DUE_PER_ALARM = 5;
/** The timer is set to this delay before each run, so a run that crashes is repeated. */
const SAFETY_MS = 30_000;
/** Interval between checks of a journal that is not verified. */
const VERIFY_MS = 5_000;
/** Key of `meta` for the next instance: whether the nodes agreed and whether the chain had stalled. */
export const QUORUM_MEMORY = 'quorum';
const SOON_MS = 20;

export type BackgroundPorts = Omit<ModuleTools, 'stopBeginning' | 'drive' | 'boundsOf'> & {
  readonly mirror: Mirror;
  readonly chain: Pick<ChainPort, 'memory' | 'checkFinality'>;
  readonly gate: SigningGate;
  readonly executor: Executor;
  /** Why this release must not write to the storage of a newer release; undefined if it may. */
  readonly newerStorage: string | undefined;
  /** The modules by the name that appears in the log. */
  readonly modules: Readonly<Record<string, CustodyModule>>;
};

export class Background {
  readonly #ports: BackgroundPorts;
  #ranAt = 0;
  /** The delivery that runs, and whether D1 is down after it. */
  #delivery: Promise<boolean> | undefined;
  #nextDelivery: Promise<void> | undefined;
  #lastRun: OperatorView['lastRun'] = null;

  constructor(ports: BackgroundPorts) {
    this.#ports = ports;
  }

  lastRun(): OperatorView['lastRun'] {
    return this.#lastRun;
  }

  async alarm(): Promise<void> {
    const { storage, gate, executor, now } = this.#ports;
    this.#lastRun = { atMs: now(), cause: 'alarm' };
    await storage.setAlarm(now() + SAFETY_MS);
    await gate.verify();
    if (gate.isVerified()) {
      await executor.driveDue(DUE_PER_ALARM);
      for (const { work = {} } of Object.values(this.#ports.modules))
        for (const [name, each] of Object.entries(work)) await this.#perform(name, each);
    }
    this.#ranAt = now();
    await this.publish();
  }

  wake(): Promise<void> {
    return this.working(async () => {
      const { gate, journal, modules, chain, readBalance, now } = this.#ports;
      this.#lastRun = { atMs: now(), cause: 'cron' };
      // These two reads, which operations need most, are sent every minute even without an operation. They show when a
      // quorum is missing, and when it is back.
      const checked = Promise.allSettled([chain.checkFinality(), readBalance(journal.releasedSlot())]);
      // Rows of an unverified journal are not processed.
      if (!gate.isVerified()) return void (await checked);
      const ticks = Object.entries(modules).map(([name, module]) => this.#tick(name, module));
      await Promise.all([checked, ...ticks]);
    });
  }

  /** Runs work that may leave unfinished rows. If the instance crashes first, the timer resumes them. */
  async working<T>(work: () => Promise<T>): Promise<T> {
    await this.#ports.gate.verify();
    await this.rearm(this.#ports.now() + SAFETY_MS);
    try {
      return await work();
    } finally {
      await this.publish();
    }
  }

  /** Runs work that needs complete rows, such as recording a payment. @throws while the journal is not verified */
  verified<T>(work: () => Promise<T>): Promise<T> {
    return this.working(async () => {
      if (!this.#ports.gate.isVerified()) throw new Error('the journal is not verified');
      return work();
    });
  }

  /** Flushes to D1, then sets the timer. D1 comes first, because a caller with a response must find its row there. */
  async publish(): Promise<void> {
    const { journal, chain, newerStorage } = this.#ports;
    const memory = chain.memory();
    if (newerStorage === undefined && journal.getMeta(QUORUM_MEMORY) !== memory)
      journal.setMeta(QUORUM_MEMORY, memory);
    await this.#deliver();
    await this.rearm();
  }

  /**
   * Runs one delivery at a time, because each one that hangs holds one of the object's six connections. Calls that come
   * during a delivery share the next one: the current one may lack their rows. If D1 did not accept the current one,
   * these calls leave their rows to the planned delivery.
   */
  async #deliver(): Promise<void> {
    if (!this.#delivery) {
      this.#delivery = this.#flush().finally(() => {
        this.#delivery = undefined;
      });
      await this.#delivery;
      return;
    }
    this.#nextDelivery ??= Promise.allSettled([this.#delivery]).then(async ([ended]) => {
      this.#nextDelivery = undefined;
      const isDown = ended.status === 'fulfilled' && ended.value;
      if (!isDown) await this.#deliver();
    });
    await this.#nextDelivery;
  }

  async #flush(): Promise<boolean> {
    const { agenda, journal, gate, now } = this.#ports;
    // A suspect journal may have older rows than the mirror, so it sends no rows to the mirror.
    if (!gate.isVerified()) return false;
    const isDown = await flushOutbox(this.#ports, agenda.looks(DELIVERY, 'd1'));
    if (!journal.queue.isQueued()) agenda.plan(DELIVERY, 'd1', null);
    // A delivery after a call does not postpone the planned one.
    else if ((agenda.dueAt(DELIVERY, 'd1') ?? 0) <= now()) agenda.postpone(DELIVERY, 'd1', DELIVERIES);
    return isDown;
  }

  /**
   * Sets the timer for the next stored work, but no later than `latest`. The result does not depend on earlier
   * settings.
   */
  async rearm(latest = Number.POSITIVE_INFINITY): Promise<void> {
    const { storage, now } = this.#ports;
    const next = Math.min(latest, this.#nextWorkAt() ?? Number.POSITIVE_INFINITY);
    // Counted from the last run, not from now: a constant stream of calls must not postpone the timer forever.
    const soonest = Math.min(this.#ranAt, now()) + SOON_MS;
    await storage.setAlarm(Number.isFinite(next) ? Math.max(next, soonest) : null);
  }

  #nextWorkAt(): number | undefined {
    const { agenda, journal, gate, modules, now } = this.#ports;
    if (!gate.isVerified()) return isSuspect(journal) ? undefined : now() + VERIFY_MS;
    const ofModules = Object.values(modules).flatMap(({ work = {} }) => Object.keys(work));
    return agenda.next([OPERATION, DELIVERY, REFUSED_ROW, ...ofModules]);
  }

  /**
   * Processes due rows of one name. A failure stops no other work; the rows that are still due are tried again later.
   */
  async #perform(name: string, { limit, due, run }: Work): Promise<void> {
    const { agenda } = this.#ports;
    const ids = due?.(limit) ?? agenda.due(name, limit);
    if (ids.length === 0) return;
    try {
      await run(ids);
      for (const id of ids) if (agenda.isDue(name, id)) agenda.failed(name, id, { reason: 'not_planned' });
    } catch (error) {
      for (const id of ids)
        if (agenda.dueAt(name, id) !== undefined) agenda.failed(name, id, failureFacts(error));
    }
  }

  /** Runs the clock-dependent work of one module. After a failure the next minute repeats it. */
  async #tick(name: string, module: CustodyModule): Promise<void> {
    const { agenda } = this.#ports;
    try {
      await module.onCron?.();
      agenda.plan(CRON, name, null);
    } catch (error) {
      agenda.failed(CRON, name, failureFacts(error), true);
    }
  }
}

/** Agenda name of a module's work that each cron run repeats. */
export const CRON = 'cron';
/** Agenda name of the delivery to D1, which follows each run of the timer. */
const DELIVERY = 'delivery';

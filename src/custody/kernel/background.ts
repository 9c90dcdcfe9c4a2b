/**
 * Runs all background work: the alarm, the cron, the delivery of changes to D1, and retries. Stored rows decide what
 * is due, so work survives the loss of an instance. A module, operation or row whose work throws waits and is
 * reported, so that it does not block the others.
 * @module
 */
import { earliest } from '../../core/due-time.ts';
import { failureReason } from '../../core/errors.ts';
import type { Executor } from './executor.ts';
import { isSuspect, type SigningGate } from './journal-integrity.ts';
import type { CustodyModule, ModuleTools } from './module.ts';
import { flushOutbox } from './outbox.ts';
import type { Mirror } from './ports.ts';
import type { ChainPort } from './solana-view.ts';

/** Operations per alarm. Each makes up to four calls to each of two nodes, and a run may make 40 calls. */
const DUE_PER_ALARM = 5;
/** The alarm is set to this delay before each run, so a run that crashes is repeated. */
const SAFETY_MS = 30_000;
/** Interval of deliveries while D1 accepts no writes, until rows have waited for `LATE_MS`. */
const DELIVERY_MS = 5_000;
const LATE_DELIVERY_MS = 60_000;
const LATE_MS = 2 * 60_000;
/** Interval between checks of a journal that is not verified. */
const VERIFY_MS = 5_000;
/**
 * Key in the journal's `meta` table. Its value tells the next instance how far the nodes agreed and whether the chain
 * was stalled.
 */
export const QUORUM_MEMORY = 'quorum';
/** Smallest delay of an alarm. */
const SOON_MS = 20;

export type BackgroundPorts = Omit<ModuleTools, 'stopBeginning' | 'drive' | 'boundsOf'> & {
  readonly mirror: Mirror;
  readonly chain: Pick<ChainPort, 'memory' | 'checkFinality'>;
  readonly gate: SigningGate;
  readonly executor: Executor;
  /** The modules by the name that appears in the log. */
  readonly modules: Readonly<Record<string, CustodyModule>>;
};

export class Background {
  readonly #p: BackgroundPorts;
  /** When the last alarm ended. */
  #ranAt = 0;
  /** Whether D1 failed to accept a row that was due in the last flush. */
  #isRefusing = false;

  constructor(p: BackgroundPorts) {
    this.#p = p;
  }

  async alarm(): Promise<void> {
    const { storage, gate, executor, now } = this.#p;
    await storage.setAlarm(now() + SAFETY_MS);
    await gate.verify();
    if (gate.isVerified()) {
      await executor.driveDue(DUE_PER_ALARM);
      await this.#runModules();
    }
    this.#ranAt = now();
    await this.publish();
  }

  wake(): Promise<void> {
    return this.working(async () => {
      const { gate, journal, modules, chain, readBalance, now } = this.#p;
      // The two reads that operations need most are sent each minute, even without an operation. They show when a
      // quorum is missing, and when it is back.
      const checked = Promise.allSettled([chain.checkFinality(), readBalance(journal.releasedSlot())]);
      // Rows of an unverified journal are not processed.
      if (!gate.isVerified()) return void (await checked);
      journal.purge(now());
      const ticks = Object.entries(modules).map(([name, module]) =>
        this.#attempt('cron', name, module.onCron?.()),
      );
      await Promise.all([checked, ...ticks]);
    });
  }

  /** Runs work that may leave unfinished rows. If this instance crashes meanwhile, the alarm continues them. */
  async working<T>(work: () => Promise<T>): Promise<T> {
    await this.#p.gate.verify();
    await this.rearm(this.#p.now() + SAFETY_MS);
    try {
      return await work();
    } finally {
      await this.publish();
    }
  }

  /** Runs work that needs complete rows, such as booking a payment. @throws while the journal is not verified */
  verified<T>(work: () => Promise<T>): Promise<T> {
    return this.working(async () => {
      if (!this.#p.gate.isVerified()) throw new Error('the journal is not verified');
      return work();
    });
  }

  /** Flushes to D1, then sets the alarm. D1 comes first, because a caller with a response must find its row there. */
  async publish(): Promise<void> {
    const { journal, chain, gate } = this.#p;
    const memory = chain.memory();
    if (journal.getMeta(QUORUM_MEMORY) !== memory) journal.setMeta(QUORUM_MEMORY, memory);
    // A suspect journal may have older rows than the mirror, so it writes nothing there.
    if (gate.isVerified()) this.#isRefusing = !(await flushOutbox(this.#p));
    await this.rearm();
  }

  /** Sets the alarm for the next stored work, but no later than `latest`. The result does not depend on earlier alarms. */
  async rearm(latest = Number.POSITIVE_INFINITY): Promise<void> {
    const { storage, now } = this.#p;
    const next = Math.min(latest, this.#nextWorkAt() ?? Number.POSITIVE_INFINITY);
    // Counted from the last run, not from now: a constant stream of calls must not postpone the alarm forever.
    const soonest = Math.min(this.#ranAt, now()) + SOON_MS;
    await storage.setAlarm(Number.isFinite(next) ? Math.max(next, soonest) : null);
  }

  #nextWorkAt(): number | undefined {
    const { journal, gate, modules, now } = this.#p;
    if (!gate.isVerified()) return isSuspect(journal) ? undefined : now() + VERIFY_MS;
    const runs = Object.entries(modules).map(([name, module]) => this.#nextRunAt(name, module));
    return earliest(journal.nextDue(now()), this.#nextDeliveryAt(), ...runs);
  }

  #nextRunAt(name: string, module: CustodyModule): number | undefined {
    const at = module.nextRunAt?.();
    return at === undefined ? undefined : Math.max(at, this.#p.retries.waitsUntil('module', name) ?? 0);
  }

  /** When the next delivery to D1 is tried, in Unix milliseconds; undefined when D1 has every row. */
  #nextDeliveryAt(): number | undefined {
    const { journal, now } = this.#p;
    const isLate = now() - (journal.undeliveredSince() ?? 0) > LATE_MS;
    const soonest = now() + (isLate ? LATE_DELIVERY_MS : DELIVERY_MS);
    if (journal.isQueued()) return soonest;
    const refused = journal.nextRefusedAt(now());
    return refused === undefined || !this.#isRefusing ? refused : Math.max(refused, soonest);
  }

  async #runModules(): Promise<void> {
    for (const [name, module] of Object.entries(this.#p.modules)) {
      const at = this.#nextRunAt(name, module);
      if (at !== undefined && at <= this.#p.now()) await this.#attempt('module', name, module.run?.());
    }
  }

  /** Runs one module's work. A failure does not stop the other modules, and the stored work runs again. */
  async #attempt(work: 'module' | 'cron', name: string, done: Promise<void> | undefined): Promise<void> {
    const { retries } = this.#p;
    try {
      await done;
      retries.succeeded(work, name);
    } catch (error) {
      retries.failed(work, name, { reason: failureReason(error), error: String(error).slice(0, 200) });
    }
  }
}

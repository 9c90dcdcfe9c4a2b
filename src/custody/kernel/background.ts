/**
 * Everything that runs without a caller: the alarm, the cron's call, and the delivery of changes to D1. Stored rows
 * decide what is due, so an instance that dies loses no work.
 * @module
 */
import { failureReason } from '../../providers/solana-rpc.ts';
import type { Executor } from './executor.ts';
import type { Journal } from './journal.ts';
import { isSuspect } from './journal-integrity.ts';
import type { CustodyModule } from './module.ts';
import { flushOutbox } from './outbox.ts';
import type { Log, Mirror, Storage } from './ports.ts';
import { rememberDisagreement } from './quorum.ts';
import type { SigningGate } from './signing-gate.ts';
import type { ChainPort } from './solana-view.ts';

/** Operations of one alarm: each asks two nodes up to four things, and a run may make 40 calls. */
const DUE_PER_ALARM = 5;
/** Set before an alarm does anything: a run that dies is repeated after this. */
const SAFETY_MS = 30_000;
/** Between tries while D1 does not take the outbox: for the first refusals, and the longest, as the wait doubles after them. */
const MIRROR_RETRY_MS = 5_000;
const QUICK_MIRROR_RETRIES = 24;
const RAREST_MIRROR_RETRY_MS = 60_000;
/** Between runs of a module that fails: the first wait, doubled with each failure, and the longest. */
const MODULE_RETRY_MS = 2_000;
const RAREST_MODULE_RETRY_MS = 5 * 60_000;
/** Smallest distance of an alarm from now. */
const SOON_MS = 20;

const doubled = (first: number, times: number, most: number): number =>
  Math.min(first * 2 ** Math.max(times - 1, 0), most);

export function createBackground(p: {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly mirror: Mirror;
  readonly chain: Pick<ChainPort, 'agreement'>;
  readonly gate: SigningGate;
  readonly executor: Executor;
  /** By name, for the log. */
  readonly modules: Readonly<Record<string, CustodyModule>>;
  readonly now: () => number;
  readonly log: Log;
}) {
  const { journal, storage, gate, now, log } = p;
  const modules = Object.entries(p.modules);
  /** When an alarm last ended. */
  let ranAt = 0;

  /** Batches that D1 has refused since it last took one. */
  let refusals = 0;
  /** Modules whose last run failed, and until when the alarm leaves them. */
  const failing = new Map<string, { readonly failures: number; readonly until: number }>();

  /** A module that fails keeps the others going; its work is stored and runs again. False when it failed. */
  async function attempt(module: string, work: Promise<void> | undefined): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      log({ level: 'warn', event: 'module_failed', module, reason: failureReason(error) });
      return false;
    }
  }

  function nextRunAt(name: string, module: CustodyModule): number {
    const { until } = failing.get(name) ?? { until: 0 };
    // An end further away was set by a clock that has gone back since.
    const held = until > now() + RAREST_MODULE_RETRY_MS ? 0 : until;
    return Math.max(module.nextRunAt?.() ?? Number.POSITIVE_INFINITY, held);
  }

  async function runModules(): Promise<void> {
    for (const [name, module] of modules) {
      if (nextRunAt(name, module) > now()) continue;
      if (await attempt(name, module.run?.())) {
        failing.delete(name);
        continue;
      }
      const failures = (failing.get(name)?.failures ?? 0) + 1;
      failing.set(name, {
        failures,
        until: now() + doubled(MODULE_RETRY_MS, failures, RAREST_MODULE_RETRY_MS),
      });
    }
  }

  const mirrorRetryAt = (): number =>
    now() + doubled(MIRROR_RETRY_MS, refusals - QUICK_MIRROR_RETRIES, RAREST_MIRROR_RETRY_MS);

  /** Sets the alarm for the next stored work, and for `latest` at the latest, whatever alarm was set or lost before. */
  async function rearm(latest = Number.POSITIVE_INFINITY): Promise<void> {
    const undelivered = journal.undeliveredSince() === undefined ? undefined : mirrorRetryAt();
    const stored = [
      journal.nextDue(now()),
      undelivered,
      ...modules.map(([name, module]) => nextRunAt(name, module)),
    ];
    const unverified = isSuspect(journal) ? [] : [now() + MIRROR_RETRY_MS];
    const next = Math.min(
      latest,
      ...(gate.isVerified() ? stored : unverified).map((at) => at ?? Number.POSITIVE_INFINITY),
    );
    // Counted from the last run, not from now: calls that never cease must not put the alarm off for ever.
    const soonest = Math.min(ranAt, now()) + SOON_MS;
    await storage.setAlarm(Number.isFinite(next) ? Math.max(next, soonest) : null);
  }

  /** D1 first, then the alarm: a caller that has its answer finds the row. */
  async function publish(): Promise<void> {
    rememberDisagreement(journal, p.chain.agreement());
    // A journal in doubt is rebuilt from the mirror, so it must not write there.
    if (gate.isVerified()) refusals = (await flushOutbox(journal, storage, p.mirror, log)) ? 0 : refusals + 1;
    await rearm();
  }

  /** Does work that leaves something to do. If this instance dies on the way, the alarm continues it. */
  async function working<T>(work: () => Promise<T>): Promise<T> {
    await gate.verify();
    await rearm(now() + SAFETY_MS);
    try {
      return await work();
    } finally {
      await publish();
    }
  }

  return {
    publish,
    rearm,
    working,

    /** Work that uses something up. @throws while the journal may not be the true one */
    verified: <T>(work: () => Promise<T>): Promise<T> =>
      working(async () => {
        if (!gate.isVerified()) throw new Error('the journal is not known to be the true one');
        return work();
      }),

    wake: (): Promise<void> =>
      working(async () => {
        // The rows of a journal in doubt are not carried on.
        if (!gate.isVerified()) return;
        journal.purge(now());
        await Promise.all(modules.map(([name, module]) => attempt(name, module.onCron?.())));
      }),

    async alarm(): Promise<void> {
      await storage.setAlarm(now() + SAFETY_MS);
      await gate.verify();
      if (gate.isVerified()) {
        await p.executor.driveDue(DUE_PER_ALARM);
        await runModules();
      }
      ranAt = now();
      await publish();
    },
  };
}

/**
 * The platform of one Durable Object: instances that crash or are replaced, storage with delayed durability,
 * one alarm that may be lost, late or repeated.
 * @module
 */
import type { SqlRow, Storage } from '../../src/custody/kernel/ports.ts';
import { type Contents, copyDisk, type Disk, returnDisk, takeDisk } from './disk.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

export type HostFaults = {
  /** Chance of a crash at each await of the custodian. */
  readonly crash: number;
  readonly replace: number;
  /** Chance that writes become durable at an await without a sync. */
  readonly flush: number;
  readonly alarmLost: number;
  readonly alarmRepeated: number;
  readonly alarmLateMs: number;
  /** Chance that the alarm of a crashed instance fires again. */
  readonly alarmRetried: number;
};

export type Instance = {
  readonly number: number;
  state: 'current' | 'replaced' | 'dead';
  disk: Disk;
  /** Whether the storage of a replaced instance throws at once, and not only at its next sync. */
  throws: boolean;
  readonly storage: Storage;
  /** Wraps every external await of the custodian. */
  readonly cross: <T>(label: string, effect: () => Promise<T>) => Promise<T>;
  /** Rejects the running events of an instance that ends. */
  readonly events: Set<() => void>;
};

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

/** Names of the calls that an object serves, what each is given, and its result. */
export type Verb<C> = {
  [Name in keyof C]: C[Name] extends (...given: never[]) => Promise<unknown> ? Name : never;
}[keyof C] &
  string;
export type Given<C, Name extends keyof C> = C[Name] extends (...given: infer All) => unknown ? All : never;
export type Returned<C, Name extends keyof C> = C[Name] extends (...given: never[]) => Promise<infer One>
  ? One
  : never;

/** Thrown in instances that have ended; their reaction has no effect. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

const ALARM_RETRIES = 6;
/**
 * The platform drops an object without events after this time, with its memory.
 * @see https://developers.cloudflare.com/durable-objects/concepts/durable-object-lifecycle/
 */
const IDLE_MS = 10_000;
const LOST = { ok: false, error: 'instance_lost' } as const;

export type Host<C extends { alarm(): Promise<void> }> = ReturnType<typeof createHost<C>>;

export function createHost<C extends { alarm(): Promise<void> }>(p: {
  scheduler: Scheduler;
  random: Random;
  faults: () => HostFaults;
  /** Unix milliseconds as the object sees them. */
  wallClock: () => number;
  compose: (instance: Instance) => C;
  /** Called before an instance starts, with the disk that has the durable rows. */
  beforeBoot: (disk: Disk) => void;
  /** A call threw although nothing was wrong with its instance. */
  onError: (call: string, error: unknown) => void;
  trace: (line: () => string) => void;
}) {
  const { scheduler, random, trace } = p;
  const disks: Disk[] = [];
  const disk = take();
  let crashes = 0;
  let replacements = 0;
  const happened = { instances: 0, evictions: 0, crashes: 0, replacements: 0, alarmsLost: 0 };
  let stayAwake = (): void => undefined;
  let current: { instance: Instance; object: C } | undefined;
  let alarm: number | null = null;
  let durableAlarm: number | null = null;
  let disarm = (): void => undefined;
  let alarmRuns = false;
  let alarmFailures = 0;

  function take(): Disk {
    const taken = takeDisk();
    disks.push(taken);
    return taken;
  }

  function commit(): void {
    disk.commit();
    durableAlarm = alarm;
  }

  function arm(): void {
    disarm();
    if (alarm === null) return;
    const late = random.between(0, p.faults().alarmLateMs);
    disarm = scheduler.after(Math.max(alarm - p.wallClock(), 0) + late, () => void fireAlarm());
  }

  function start(): { instance: Instance; object: C } {
    p.beforeBoot(disk);
    const instance = newInstance();
    trace(() => `instance ${instance.number} starts`);
    current = { instance, object: p.compose(instance) };
    disk.commit();
    return current;
  }

  function newInstance(): Instance {
    const events = new Set<() => void>();
    const check = (): void => {
      if (instance.state === 'dead') throw new Gone('instance is gone');
      if (instance.state === 'replaced' && instance.throws) throw new Error('storage: object was replaced');
    };
    const storage: Storage = {
      exec(query, ...params): SqlRow[] {
        check();
        return instance.disk.exec(query, params);
      },
      transaction(work) {
        check();
        return instance.disk.transaction(work);
      },
      sync: () =>
        cross('storage.sync', async () => {
          if (instance.state !== 'current') throw new Error('storage: object was replaced');
          commit();
        }),
      setAlarm: (at) =>
        cross('storage.setAlarm', async () => {
          check();
          if (instance.state !== 'current') return;
          alarm = at;
          arm();
        }),
    };
    async function cross<T>(label: string, effect: () => Promise<T>): Promise<T> {
      if (instance.state === 'dead') return forever();
      const { crash: crashing, replace: replacing, flush } = p.faults();
      if (instance.state === 'current') {
        if (crashes > 0 && random.chance(crashing)) {
          crashes--;
          happened.crashes++;
          // The crash comes before or after the call takes effect; in both cases its response is lost.
          if (random.chance(0.5)) effect().catch(() => undefined);
          trace(() => `instance ${instance.number} crashes at ${label}`);
          crash();
          return forever();
        }
        if (flush > 0 && random.chance(flush)) commit();
        if (replacements > 0 && random.chance(replacing)) {
          replacements--;
          happened.replacements++;
          trace(() => `instance ${instance.number} is replaced at ${label} and sleeps`);
          replace(instance);
          await scheduler.sleep(random.between(100, 90_000));
          trace(() => `instance ${instance.number} wakes`);
        }
      }
      let value: T;
      try {
        value = await effect();
      } catch (error) {
        if (isGone(instance)) return forever();
        throw error;
      }
      return isGone(instance) ? forever() : value;
    }
    const instance: Instance = {
      number: ++happened.instances,
      state: 'current',
      disk,
      throws: false,
      storage,
      cross,
      events,
    };
    return instance;
  }

  function crash(): void {
    if (!current) return;
    current.instance.state = 'dead';
    lose(current.instance);
  }

  /** Nothing but the durable state remains for the next instance. */
  function lose({ events }: Instance): void {
    current = undefined;
    disk.rollback();
    alarm = durableAlarm;
    arm();
    for (const end of events) end();
  }

  /**
   * The instance continues with a copy of its state; the next event starts another instance from the durable
   * state.
   */
  function replace(instance: Instance): void {
    instance.state = 'replaced';
    instance.throws = random.chance(0.5);
    instance.disk = copyDisk(disk);
    disks.push(instance.disk);
    lose(instance);
  }

  /** Drops an instance that has been idle for long enough, with its memory. */
  function sleepWhenIdle(instance: Instance): void {
    stayAwake();
    stayAwake = scheduler.after(IDLE_MS, () => {
      if (current?.instance !== instance || instance.events.size > 0) return;
      happened.evictions++;
      trace(() => `instance ${instance.number} is evicted`);
      commit();
      instance.state = 'dead';
      current = undefined;
    });
  }

  /** One event of the object. Its response is sent only after its writes are durable. */
  function event<T>(call: string, ask: (object: C) => Promise<T>): Promise<Outcome<T>> {
    const { instance, object } = current ?? start();
    stayAwake();
    return new Promise((resolve) => {
      const abandon = (): void => {
        instance.events.delete(abandon);
        resolve(LOST);
      };
      instance.events.add(abandon);
      const end = (outcome: Outcome<T>): void => {
        if (!instance.events.delete(abandon)) return;
        commit();
        if (instance.events.size === 0) sleepWhenIdle(instance);
        resolve(outcome);
      };
      ask(object).then(
        (value) => end({ ok: true, value }),
        (error: unknown) => {
          if (instance.state === 'current') p.onError(call, error);
          end({ ok: false, error: String(error) });
        },
      );
    });
  }

  async function fireAlarm(): Promise<void> {
    if (alarmRuns) {
      disarm = scheduler.after(100, () => void fireAlarm());
      return;
    }
    const { alarmLost, alarmRepeated, alarmRetried } = p.faults();
    // A fired alarm is deleted, regardless of its handler's result.
    alarm = null;
    durableAlarm = null;
    if (random.chance(alarmLost)) {
      happened.alarmsLost++;
      return trace(() => 'alarm is lost');
    }
    alarmRuns = true;
    const outcome = await event('alarm', (object) => object.alarm());
    alarmRuns = false;
    if (outcome.ok) {
      alarmFailures = 0;
      if (random.chance(alarmRepeated)) {
        trace(() => 'alarm is repeated');
        await event('alarm', (object) => object.alarm());
      }
      return;
    }
    trace(() => `alarm failed: ${outcome.error}`);
    const isTried = outcome.error !== LOST.error || random.chance(alarmRetried);
    if (alarm !== null || !isTried || alarmFailures >= ALARM_RETRIES) return;
    alarmFailures++;
    alarm = p.wallClock() + 2_000 * 2 ** alarmFailures;
    durableAlarm = alarm;
    arm();
  }

  return {
    event,

    /** Calls one verb of the object. */
    ask: <Name extends Verb<C>>(verb: Name, ...given: Given<C, Name>) =>
      event(
        verb,
        (object): Promise<Returned<C, Name>> => Reflect.apply(object[verb] as never, object, given),
      ),

    /** The number of crashes and replacements that may follow. */
    allow(allowed: { crashes: number; replacements: number }): void {
      crashes = allowed.crashes;
      replacements = allowed.replacements;
    },

    /** A deployment or an eviction: the durable state stays. */
    restart(why: string): void {
      trace(() => `restart: ${why}`);
      crash();
    },

    /** Removes the journal, or replaces it by an older one. */
    restore(contents: Contents, why: string): void {
      trace(() => `journal restored: ${why}`);
      crash();
      disk.load(contents);
      // An emptied object has no alarm either.
      if (contents.length === 0) alarm = durableAlarm = null;
      arm();
    },

    /** A backup of the journal: a copy of the durable state. */
    backup(): Contents {
      commit();
      return disk.contents();
    },

    /** The machine's clock has jumped: the alarm is set again. */
    rearm: arm,

    /** Counts of the platform's faults. */
    happened: happened as Readonly<Record<string, number>>,

    disk,
    close(): void {
      disarm();
      stayAwake();
      if (current) current.instance.state = 'dead';
      for (const used of disks) {
        used.rollback();
        returnDisk(used);
      }
    },
  };
}

const isGone = (instance: Instance): boolean => instance.state === 'dead';

const forever = <T>(): Promise<T> => new Promise(() => undefined);

import { type Actors, startActors } from './actors.ts';
import type { PlannedEvent } from './events.ts';
import type { Production } from './production.ts';
import { type Scenario, scenarioOf } from './scenario.ts';
import { hasParts, isQuiet, judge, operationsOf, waitingForDay } from './verdict.ts';
import type { Violation } from './witness.ts';
import { createWorld, type Trace, type World } from './world.ts';

export type SeedResult = {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** Counts of events by name: ends of operations, states of requests, faults, lies, attacks. */
  readonly counts: Readonly<Record<string, number>>;
};

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Days that a run waits for: the number of creations that it can sell, with a cap of one per day. */
const MOST_DAYS = 6;
/** A request closes within this time. */
const REQUEST_LIFE = 45 * MINUTE;
/** Time between cron runs after the faults. The cron searches for payments. */
const CALM_CRON = 20_000;
/** Time in which the last payments become final and the cron finds them. */
const CALM_LEAST = 2 * CALM_CRON;
/** The same without a cron: the object's timer searches when the cron has been silent for ten minutes. */
const CALM_LEAST_ALONE = 25 * MINUTE;
/** Longer than any delay of a bridge, and than a swap may wait before it is held. */
const PATIENCE = 9 * HOUR;
/** After this time, every transaction that was on its way is final or can never land. */
const OPERATOR_DELAY = 10 * MINUTE;

const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => void unhandled.push(error));

export const runSeed = (seed: number, production: Production, trace: Trace): Promise<SeedResult> =>
  runScenario(scenarioOf(seed), production, trace);

/** An error ends the run as a violation, so that a range names its seed and a reduction can repeat it. */
export async function runScenario(
  scenario: Scenario,
  production: Production,
  trace: Trace,
): Promise<SeedResult> {
  try {
    const world = createWorld(scenario, production, (line) =>
      trace(() => `${String(world.scheduler.now()).padStart(9)} ms  ${line()}`),
    );
    try {
      return await play(world, production, trace);
    } finally {
      world.host.close();
    }
  } catch (error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { seed: scenario.seed, violations: [{ invariant: 'no_error', detail }], counts: {} };
  }
}

async function play(world: World, production: Production, trace: Trace): Promise<SeedResult> {
  const { scenario, scheduler, host, witness, state, count } = world;
  unhandled.length = 0;
  host.allow(scenario);
  void host.ask('report');
  const actors = startActors(world, production);
  for (const event of scenario.events) scheduler.at(event.at, () => happen(world, actors, production, event));
  startCron(world);
  let parts = 0;
  state.onPart = () => {
    if (++parts !== scenario.lostAfterParts || state.isCalm || state.wasLost) return;
    count('journals lost during a partial delivery');
    scheduler.after(1, () => loseJournal(world, 'nothing'));
  };

  let isDone = false;
  const broke = () => witness.violations.length > 0;
  await scheduler.run(scenario.calmAt, broke);
  if (!broke()) {
    calmDown(world, actors, production);
    let days = 0;
    const rest = (wait: number): void => {
      scheduler.after(wait, () => {
        const quiet = state.isLost || isQuiet(world, production);
        const isIdle = quiet && actors.waiting() === 0;
        if (isIdle && !state.isLost && !actors.isAllSought()) {
          actors.comeAgain();
          state.calmUntil = scheduler.now() + leastCalm(world);
        }
        isDone = isIdle && scheduler.now() > state.calmUntil;
        // No other work is left: lets partly paid requests expire.
        if (isDone && !state.isLost && hasParts(world)) {
          isDone = false;
          state.clockOffset += REQUEST_LIFE;
          host.rearm();
          return rest(5_000);
        }
        // Operations that wait for a day's cap are signed on another day.
        if (
          isDone &&
          !state.isLost &&
          waitingForDay(operationsOf(world, production)) > 0 &&
          ++days <= MOST_DAYS
        ) {
          isDone = false;
          state.clockOffset += DAY;
          state.dueFrom = scheduler.now();
          count('days awaited');
          host.rearm();
          actors.comeAgain();
          state.calmUntil = scheduler.now() + leastCalm(world);
          return rest(5_000);
        }
        if (!isDone) rest(Math.min(wait * 1.25, 10 * MINUTE));
      });
    };
    rest(5_000);
    const clockCost = Math.abs(state.clockOffset) + PATIENCE;
    await scheduler.run(scenario.calmAt + OPERATOR_DELAY + clockCost, () => isDone || broke());
  }
  if (!broke()) await judge(world, actors, production);
  for (const error of unhandled) {
    if (!(error instanceof Error && error.name === 'Gone')) witness.broken('no_loose_error', String(error));
  }
  const counts: Record<string, number> = { ...world.happened, ...host.happened };
  const add = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for (const { isShort } of world.bridge.orders.values()) if (isShort) add('short returns');
  for (const op of operationsOf(world, production)) add(`${op.kind} ${op.state}/${op.detail}`);
  for (const table of ['requests', 'refunds', 'asry_payouts'])
    for (const row of rowsIn(world, table)) add(`${table} ${row.state}`);
  counts.virtualMinutes = Math.round(scheduler.now() / MINUTE);
  trace(() =>
    operationsOf(world, production)
      .map((op) => `row ${op.id} ${op.state}/${op.detail} (${op.reason})`)
      .join('\n'),
  );
  return { seed: scenario.seed, violations: [...witness.violations], counts };
}

const rowsIn = ({ host }: World, table: string) => {
  const isThere = host.disk.exec(`SELECT 1 FROM sqlite_master WHERE name = ?`, [table]).length > 0;
  return isThere ? host.disk.exec(`SELECT state FROM ${table}`, []) : [];
};

const leastCalm = ({ scenario }: World): number => (scenario.cronReturns ? CALM_LEAST : CALM_LEAST_ALONE);

function startCron({ scenario, scheduler, host, state }: World): void {
  if (!scenario.cronReturns) return;
  const every = (): number => (state.isCalm ? CALM_CRON : scenario.cronMs);
  const tick = (): void => {
    void host.ask('wake');
    scheduler.after(every(), tick);
  };
  // A cron that never runs is a fault, and ends with the other faults.
  scheduler.at(Math.min(scenario.cronMs, scenario.calmAt + CALM_CRON / 2), tick);
}

/** Faults end; the operator resumes, lets a lost journal begin anew, sends a restored D1 its rows, and pays owed refunds. */
function calmDown(world: World, actors: Actors, production: Production): void {
  const { state, host, scheduler, trace, scenario } = world;
  trace(() => 'calm');
  state.isCalm = true;
  host.restart('calm');
  if (scenario.cronReturns) void host.ask('wake');
  actors.comeAgain();
  state.calmUntil = scheduler.now() + leastCalm(world);
  // Swaps without a report of the bridge are held in the end; no run waits that long.
  scheduler.after(OPERATOR_DELAY / 2, () => {
    if (![...world.bridge.orders.values()].some(({ fate }) => fate === 'silent' || fate === 'untrue')) return;
    state.clockOffset += 7 * HOUR;
    host.rearm();
  });
  // A pause whose response was lost is repeated, possibly after the resumption.
  if (scenario.events.some(({ type }) => type === 'resume')) operate(world, production, 'resume');
  if (state.isLost && scenario.seed % 4 !== 0) {
    state.calmUntil = scheduler.now() + OPERATOR_DELAY + leastCalm(world);
    scheduler.after(OPERATOR_DELAY, () => beginAnew(world, actors, production, undefined));
  }
  if (state.wasD1Restored && !state.isLost) operate(world, production, 'republish');
  if (scenario.seed % 2 === 0) {
    state.calmUntil = Math.max(state.calmUntil, scheduler.now() + 30_000);
    scheduler.after(30_000, () => payBack(world, actors));
  }
}

/** The operator pays the owed refunds of each request, and sends each command twice. */
function payBack({ host }: World, actors: Actors): void {
  for (const { request } of actors.orders.values())
    for (let time = 0; time < 2; time++) void host.ask('ops', { name: 'refund', id: request.id });
}

/** The operator retries every open operation. */
function retryAll(world: World, production: Production): void {
  for (const { id, state } of operationsOf(world, production))
    if (state !== 'done' && state !== 'failed') void world.host.ask('ops', { name: 'retry', id });
}

/** The operator repeats the command with the code that it shows, until the journal has begun anew, and then resumes. */
function beginAnew(world: World, actors: Actors, production: Production, code: string | undefined): void {
  const { host, scheduler, trace, state, count } = world;
  void host.ask('ops', { name: 'begin-anew', ...(code && { id: code }) }).then((outcome) => {
    trace(() => `operator: begin-anew ${code}: ${JSON.stringify(outcome)}`);
    const said = outcome.ok ? outcome.value : undefined;
    // The response to the command that had an effect may be lost.
    if ((said?.ok && code !== undefined) || said?.message.includes('lost nothing')) {
      state.isLost = false;
      count('journals begun anew');
      state.calmUntil = scheduler.now() + leastCalm(world);
      actors.claimAll();
      return operate(world, production, 'resume');
    }
    const shown = /--confirm (\w+)/.exec(said?.message ?? '')?.[1];
    scheduler.after(3_000, () => beginAnew(world, actors, production, shown));
  });
}

/** An operator without a response repeats the command. */
function operate(world: World, production: Production, name: 'pause' | 'resume' | 'republish'): void {
  const { host, scheduler, trace } = world;
  void host.ask('ops', { name }).then((outcome) => {
    trace(() => `operator: ${name}: ${JSON.stringify(outcome)}`);
    if (!outcome.ok || !outcome.value.ok) scheduler.after(3_000, () => operate(world, production, name));
  });
}

function happen(world: World, actors: Actors, production: Production, event: PlannedEvent): void {
  const { host, state, trace, ledger, bitcoin, count, d1 } = world;
  trace(() => `event: ${JSON.stringify(event)}`);
  count(`event: ${event.type}`);
  switch (event.type) {
    case 'rotate':
      return void world.rotate();
    case 'deploy':
      return void host.restart('deploy');
    case 'pause':
    case 'resume':
      return void operate(world, production, event.type);
    case 'look':
      void host.ask('swapRoom');
      void host.ask('report');
      void host.ask('previewMint');
      void host.ask('estimateSwap', { amountLamports: 700_000_000n, client: 'ip-8' });
      return;
    case 'proof':
      return void host.ask('proof');
    case 'refund':
      return void payBack(world, actors);
    case 'retry':
      return void retryAll(world, production);
    case 'income':
      return void bitcoin.pay([{ address: world.addresses.bitcoin, value: 1_234n }], 1_000);
    case 'clock':
      state.clockOffset += event.ms;
      return void host.rearm();
    case 'fork':
      return void ledger.fork(event.depth);
    case 'reorg':
      return void bitcoin.reorg(event.depth);
    case 'remember':
      state.remembered = { rows: host.backup(), revision: revisionOf(world) };
      return void d1.remember();
    case 'd1_restored':
      // With a lost journal and a restored D1, nothing would show the loss.
      if (state.isLost) return;
      state.wasD1Restored = true;
      return void d1.restore();
    case 'd1_down':
      return void d1.cutOff(event.ms);
    case 'journal_lost':
      return void loseJournal(world, event.to);
  }
}

const revisionOf = ({ host }: World): number =>
  Number(host.disk.exec(`SELECT value FROM meta WHERE key = 'revision'`, [])[0]?.value ?? 0);

/** Loses the journal only if D1 has more rows than remain in it: otherwise nothing can detect the loss. */
function loseJournal(world: World, to: 'nothing' | 'older'): void {
  const { host, d1, state } = world;
  const left = to === 'older' ? state.remembered : { rows: [], revision: 0 };
  if (!left || left.revision >= d1.highest() || state.wasD1Restored) return;
  state.isLost = true;
  state.wasLost = true;
  host.restore(left.rows, `revision ${left.revision} where D1 has ${d1.highest()}`);
}

/**
 * One seed, from the first request until everything has come to rest.
 * @module
 */
import type { RouteName } from '../../src/bridges/route.ts';
import { startClients } from './clients.ts';
import type { Incident, Loss } from './incident-plan.ts';
import type { Production } from './production.ts';
import { type Scenario, scenarioOf } from './scenario.ts';
import { isQuiet, judge, rowsOf } from './verdict.ts';
import type { Violation } from './witness.ts';
import { createWorld, type Trace, type World } from './world.ts';

export type SeedResult = {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<string, number>>;
  /** Lamports of each swap that is on the chain in the end. */
  readonly spent: readonly bigint[];
};

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CALM_CRON = 20 * MINUTE;
/** Longer than any bridge is slow and than a swap may wait before it is held. */
const PATIENCE = 9 * HOUR;
/** By then every transaction that was on its way is final or can never land. */
const OPERATOR_DELAY = 10 * MINUTE;
/** The oldest view that a node may have, and finality, in slots. */
const OLDEST_VIEW = 240;

const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => void unhandled.push(error));

export async function runSeed(
  seed: number,
  production: Production,
  trace: Trace,
  routes?: readonly RouteName[],
): Promise<SeedResult> {
  return runScenario(scenarioOf(seed, routes), production, trace);
}

export async function runScenario(
  scenario: Scenario,
  production: Production,
  trace: Trace,
): Promise<SeedResult> {
  const world = createWorld(scenario, production, (line) =>
    trace(() => `${String(world.scheduler.now()).padStart(9)} ms  ${line()}`),
  );
  const { scheduler, host, witness, state } = world;
  unhandled.length = 0;
  host.allow(scenario);
  void host.event('report', (custodian) => custodian.report());
  const clients = startClients(world);
  for (const incident of scenario.incidents) scheduler.at(incident.at, () => happen(world, incident));
  startCron(world);

  let isDone = false;
  const broke = () => witness.violations.length > 0;
  await scheduler.run(scenario.calmAt, broke);
  if (!broke()) {
    calmDown(world);
    const rest = (wait: number): void => {
      scheduler.after(wait, () => {
        const quiet = state.isLost || isQuiet(world, rowsOf(world, production));
        isDone = quiet && clients.waiting() === 0 && scheduler.now() > state.calmUntil;
        if (!isDone) rest(Math.min(wait * 1.5, 10 * MINUTE));
      });
    };
    rest(5_000);
    const clockCost = Math.abs(state.clockOffset) + PATIENCE;
    await scheduler.run(scenario.calmAt + OPERATOR_DELAY + clockCost, () => isDone || broke());
  }
  if (!broke()) judge(world, production);
  for (const error of unhandled) {
    if (!(error instanceof Error && error.name === 'Gone')) witness.broken('no_loose_error', String(error));
  }
  const rows = rowsOf(world, production);
  trace(() => rows.map((op) => `row ${op.id} ${op.state}/${op.detail} (${op.reason})`).join('\n'));
  const counts: Record<string, number> = {
    landed: world.chain.entries.filter((entry) => entry.movement && !entry.failed).length,
    forked: world.chain.entries.filter((entry) => entry.droppedAt < Number.POSITIVE_INFINITY).length,
    virtualMinutes: Math.round(scheduler.now() / MINUTE),
    ...host.happened,
  };
  for (const op of rows) {
    const end = `${op.kind} ${op.state}/${op.detail}`;
    counts[end] = (counts[end] ?? 0) + 1;
  }
  host.release();
  const spent = world.chain.entries.flatMap(({ movement, failed, droppedAt }) =>
    movement?.intent.startsWith('amount:') && !failed && droppedAt === Number.POSITIVE_INFINITY
      ? [movement.lamports]
      : [],
  );
  return { seed: scenario.seed, violations: [...witness.violations], counts, spent };
}

function startCron({ scenario, scheduler, host, state }: World): void {
  if (scenario.cronMs === Number.POSITIVE_INFINITY) return;
  const tick = (): void => {
    void host.event('wake', (custodian) => custodian.wake());
    // Rarer when nothing goes wrong any more, to save the reader's time and ours.
    scheduler.after(state.isCalm ? CALM_CRON : scenario.cronMs, tick);
  };
  scheduler.after(scenario.cronMs, tick);
}

/** Faults end; the newest version runs; an operator looks after a lost journal. */
function calmDown(world: World): void {
  const { state, host, scheduler, trace } = world;
  trace(() => 'calm');
  state.isCalm = true;
  state.isOldVersion = false;
  host.restart('the newest version');
  void host.event('wake', (custodian) => custodian.wake());
  // What the bridge is silent about is held in the end; nobody here needs to wait so long.
  scheduler.after(OPERATOR_DELAY / 2, () => {
    if (![...world.bridge.orders.values()].some(({ fate }) => fate === 'silent' || fate === 'untrue')) return;
    state.clockOffset += 7 * HOUR;
    host.rearm();
  });
  // A pause whose answer was lost is said again, perhaps after the resumption.
  if (world.scenario.incidents.some(({ type }) => type === 'resume')) operate(world, 'resume');
  if (!state.isLost || world.scenario.seed % 2 === 0) return;
  state.calmUntil = scheduler.now() + OPERATOR_DELAY;
  scheduler.after(OPERATOR_DELAY, () => operate(world, 'reconcile'));
}

/** An operator who gets no answer says it again. */
function operate(world: World, name: 'pause' | 'resume' | 'reconcile'): void {
  const { host, scheduler, trace } = world;
  void host
    .event('ops', (custodian) => custodian.ops({ name }))
    .then((outcome) => {
      trace(() => `operator: ${name}: ${JSON.stringify(outcome)}`);
      if (!outcome.ok || !outcome.value.ok) return void scheduler.after(3_000, () => operate(world, name));
      if (name === 'reconcile') world.state.isLost = false;
    });
}

function happen(world: World, incident: Incident): void {
  const { host, state, trace, chain } = world;
  trace(() => `incident: ${JSON.stringify(incident)}`);
  switch (incident.type) {
    case 'deploy':
      host.restart('deploy');
      break;
    case 'old_rows':
      state.agesRows = true;
      host.restart('another version');
      break;
    case 'pause':
    case 'resume':
      operate(world, incident.type);
      break;
    case 'look':
      void host.event('swapRoom', (custodian) => custodian.swapRoom());
      void host.event('report', (custodian) => custodian.report());
      void host.event('previewSwap', (custodian) =>
        custodian.previewSwap({ amountLamports: 700_000_000n, client: 'ip-8' }),
      );
      break;
    case 'clock':
      state.clockOffset += incident.ms;
      host.rearm();
      break;
    case 'fork':
      chain.fork(incident.depth);
      break;
    case 'remember':
      state.remembered = { rows: host.disk.contents(), revision: revisionOf(world) };
      break;
    case 'journal_lost':
      loseJournal(world, incident.to);
  }
}

const revisionOf = ({ host }: World): number =>
  Number(host.disk.exec(`SELECT value FROM meta WHERE key = 'revision'`, [])[0]?.value ?? 0);

/** Only where somebody else remembers more than what is left: otherwise nobody could ever know. */
function loseJournal(world: World, to: Loss): void {
  const { host, d1, state } = world;
  const left = to === 'older' ? state.remembered : { rows: [], revision: 0 };
  const mirrored = d1.rows().reduce((most, row) => Math.max(most, Number(row.revision)), 0);
  if (!left || left.revision >= mirrored || (to === 'nothing, D1 too' && !isPlainOnChain(world))) return;
  state.isLost = true;
  state.wasLost = true;
  host.restore(left.rows, `revision ${left.revision} where D1 has ${mirrored}`);
  if (to === 'nothing, D1 too') d1.clear();
}

/** Whichever node is asked, it shows a final transaction of the reserve. */
const isPlainOnChain = ({ chain, scenario }: World): boolean =>
  scenario.nodes.every(({ retention }) => retention === Number.POSITIVE_INFINITY) &&
  chain.entries.some(
    (entry) =>
      entry.movement &&
      entry.slot < chain.tip() - OLDEST_VIEW &&
      entry.droppedAt === Number.POSITIVE_INFINITY,
  );

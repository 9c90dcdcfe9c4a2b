import { setTimeout as sleep } from 'node:timers/promises';
/** @module-tag deep */
import { afterAll, expect, it } from 'vitest';
import type { Call, Calls, VerbCalls } from '../../scripts/bench/counting-worker.ts';
import { everyRead } from '../../scripts/bench/every-read.ts';
import { ownBundle, sluiceBundle, startRuntime } from '../../scripts/bench/runtime.ts';
import type { Cost, RouteCosts } from '../../scripts/scale-page.ts';
import { useWorld } from '../world/use-world.ts';
import { until } from './swap-caller.ts';
import { orderOf } from './token-caller.ts';

/** What docs/run/scale.md is made of. After a change that is meant: run this file with `-u`, then `npm run docs`. */
const TABLE = '../fixtures/route-costs.json';

let runtime: Awaited<ReturnType<typeof startRuntime>>;
let origin: string;
let costs: RouteCosts;

// Only the world's upstreams are needed.
const world = useWorld({ cron: false }, async (world) => {
  await world.worker.kill();
  sluiceBundle();
  runtime = await startRuntime({ counting: await ownBundle('counting') }, world.bindings);
  origin = runtime.url('counting');
  costs = await measure();
});
afterAll(() => runtime?.stop());

type Asked = { readonly status: number; readonly body: string; readonly calls: Calls };

const NEW_ISOLATE = { 'x-new-isolate': '1' };
/** Values that a request with it reads are fresh for the next one. */
const CLOCK_HELD = { 'x-clock': 'hold' };

async function ask(path: string, init: RequestInit = {}): Promise<Asked> {
  const headers = new Headers(init.headers);
  headers.set('cf-connecting-ip', '10.77.0.1');
  const response = await fetch(`${origin}${path}`, { ...init, headers, redirect: 'manual' });
  const body = await response.text();
  return {
    status: response.status,
    body,
    calls: JSON.parse(response.headers.get('x-calls') ?? '') as Calls,
  };
}

const post = (path: string, body: object, headers = {}) =>
  ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

function costOf({ calls, read, written }: Calls): Cost {
  const counts: Partial<Record<string, number>> = {};
  for (const { backend, what } of calls) {
    const key = what === 'put' ? 'kvWrites' : backend;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  const used = Object.entries({ ...counts, read, written });
  return {
    steps: Math.max(0, ...calls.map(({ step }) => step)),
    // Sorted: calls of one step come in any order.
    ...Object.fromEntries(used.filter(([, value]) => Number(value) > 0).sort()),
  };
}

/** What a call is named in the steps of a write. */
function nameOf({ backend, what }: Call): string {
  if (backend !== 'upstream')
    return { d1: 'D1', kv: 'KV', pageViews: 'page-view object' }[String(backend)] ?? backend;
  if (what.endsWith('/v0/quote')) return 'quote of the bridge';
  return /\/info$|\/v2\/prices|\/Ticker/.test(what) ? 'prices' : what;
}

const stepsOf = (calls: readonly Call[]): string[] => {
  const steps = Map.groupBy(
    calls.filter(({ step }) => step > 0),
    ({ step }) => step,
  );
  const names = [...steps.values()].map((step) => [...new Set(step.map(nameOf))].sort().join(', '));
  // A node that lags is asked again at once.
  return names.filter((name, at) => name !== names[at - 1]);
};

/**
 * The custodian's own steps in place of the call of its verb. Each write waits for its delivery to D1 at the end, which
 * another call or the timer may make.
 */
async function wholeSteps({ calls }: Pick<Calls, 'calls'>): Promise<string[]> {
  const verbs = (await (await fetch(`${origin}/verbs`)).json()) as VerbCalls[];
  const [called] = calls.filter(({ backend }) => backend === 'custodian');
  const own = stepsOf(verbs.find(({ verb }) => verb === called?.what)?.calls ?? []);
  const inner = [...own.filter((name) => name !== 'D1'), 'D1'];
  return stepsOf(calls).flatMap((step) =>
    step === 'custodian' ? inner.splice(0).map((own) => `custodian: ${own}`) : [step],
  );
}

const pools = () => world.bindings.POOL_ADDRESSES;

const createSwap = () =>
  post('/api/swap/create', { amountSol: 0.5 }, { 'idempotency-key': 'route-costs-create' });

const viewPage = () => post('/api/analytics/pageview', { path: '/' });

const invoice = () => post('/api/invoices', orderOf(world.users[0]?.address));

/** For this long, callers share a balance that was read, such as the one of the sale. */
const BALANCE_SHARED_MS = 1_000;

/** Pays an invoice. @returns its confirmation, once the payment is final and no earlier balance is shared */
async function confirm(): Promise<Asked> {
  const [from] = world.users;
  if (!from) throw new Error('the world has no user');
  const open = JSON.parse((await invoice()).body) as Record<string, unknown>;
  const signature = await world.control.transfer({
    from,
    to: String(open.treasury_address),
    asset: 'sol',
    amount: BigInt(Number(open.fee_lamports)),
    references: [String(open.reference)],
  });
  const { ledger } = world.solana;
  const soldBefore = Date.now();
  await until('a final payment', () => {
    if (Date.now() - soldBefore <= BALANCE_SHARED_MS) return undefined;
    const slot = ledger.transaction(signature)?.slot ?? Number.POSITIVE_INFINITY;
    return ledger.clock.slot('finalized') >= slot || undefined;
  });
  return post('/api/invoices/confirm', { invoice_id: open.invoice_id, tx_signature: signature });
}

const WRITES: readonly (readonly [route: string, run: () => Promise<Asked>])[] = [
  ['/api/swap/create', createSwap],
  ['/api/invoices', invoice],
  ['/api/invoices/confirm', confirm],
  ['/api/analytics/pageview', viewPage],
];

/** More than the lag of a source and the pause between two reads of the last change. */
const CHANGE_SETTLED_MS = 4_000;

/** Runs of the cron of which the cheapest is recorded. */
const CRON_RUNS = 25;

async function measure(): Promise<RouteCosts> {
  // The day's first run signs the proof and begins the mint. A later one, without open work, is measured.
  const database = await runtime.database('counting');
  await until('the end of the mint', async () => {
    await ask('/cron');
    const { results } = await database.prepare('SELECT status FROM operations').all();
    return (results.length > 0 && results.every(({ status }) => status !== 'waiting')) || undefined;
  });
  // A value that was read within two seconds of a change is read again, so reads begin after that time.
  await sleep(CHANGE_SETTLED_MS);
  // Some runs also read a value that is due again. The cheapest one reads only what every run reads.
  const runs: Cost[] = [];
  while (runs.length < CRON_RUNS) runs.push(costOf((await ask('/cron')).calls));
  const total = (cost: Cost) => Object.values(cost).reduce((sum, count) => sum + count, 0);
  const [cheapest] = runs.toSorted((one, other) => total(one) - total(other));
  if (!cheapest) throw new Error('the cron did not run');
  const { steps: _steps, ...cron } = cheapest;
  const reads: RouteCosts['reads'][number][] = [];
  for (const { route, path } of await everyRead(origin, database, pools())) {
    // Values in KV are at most a minute old, on a slow machine too.
    await ask('/cron');
    // Fills KV, as another isolate of the location has.
    await ask(path, { headers: NEW_ISOLATE });
    const cold = costOf((await ask(path, { headers: { ...NEW_ISOLATE, ...CLOCK_HELD } })).calls);
    const warm = costOf((await ask(path, { headers: CLOCK_HELD })).calls);
    reads.push({ route: `GET ${route}`, cold, warm });
  }
  const writes: RouteCosts['writes'][number][] = [];
  for (const [route, run] of WRITES) {
    // Each write reads its own balance.
    await sleep(BALANCE_SHARED_MS + 1);
    const { status, body, calls } = await run();
    expect(status, body).toBeLessThan(300);
    writes.push({ route: `POST ${route}`, steps: await wholeSteps(calls) });
  }
  return { reads, writes, cron };
}

it('a warm read makes at most one sequential round of calls, and a cold read at most two', () => {
  // After a change, the Bitcoin list is read again from its index, page by page. The page of tokens renders three reads.
  const longer = ['GET /api/transactions/bitcoin', 'GET /tokens'];
  expect(
    costs.reads.filter(
      ({ route, warm, cold }) => warm.steps > 1 || cold.steps > (longer.includes(route) ? 4 : 2),
    ),
  ).toEqual([]);
});

it('each route costs per request what docs/run/scale.md states', async () => {
  await expect(`${JSON.stringify(costs, null, 2)}\n`).toMatchFileSnapshot(TABLE);
});

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PRICE_VENUES } from '../../src/providers/price-venues.ts';
import type { UpstreamName } from '../world/bindings.ts';
import { startWorld, type World } from '../world/world.ts';
import type { Cell } from './fault-cells.ts';
import { judge, type Verdict } from './fault-verdict.ts';
import { type Answer, type Body, createSwapCaller, type SwapCaller, until } from './swap-caller.ts';

/** A little above the smallest swap whose cost passes at the simulated bridge. */
const AMOUNT_SOL = 0.3;
const AMOUNT_LAMPORTS = 300_000_000n;
/** The custodian's share of bridge quotes is 60 in two hours. */
const CELLS_A_WORLD = 50;
/** After this number of status requests to the bridge, a waiting swap is treated as permanently waiting. */
const LOOKS_IN_VAIN = 3;
/** Milliseconds for which the custodian shares one read of the balance or of the prices, a failure too. */
const READ_SHARED_MS = 1_000;
/** Milliseconds that a send is held while a fault of another upstream begins. */
const SEND_HELD_MS = 300;
const RPCS: readonly UpstreamName[] = ['rpc1', 'rpc2'];

export interface Outcome extends Verdict {
  readonly cell: Cell;
}

const startMatrixWorld = (): Promise<World> =>
  startWorld({
    cron: false,
    blockMs: 300,
    settleDelayMs: 300,
    reserveLamports: 100_000_000_000n,
    vars: {
      SWAP_MAX_SOL_HOUR: '1000',
      SWAP_MAX_SOL_DAY: '1000',
      SWAP_MAX_UNSETTLED_SOL: '1000',
      SWAP_MAX_COST_SOL_DAY: '100',
    },
  });

/** Number of requests with this text in their label: the minimum over these upstreams. */
function asked(world: World, upstreams: readonly UpstreamName[], label: string): number {
  const stats = world.stats();
  const counts = upstreams.map((name) =>
    Object.entries(stats[name]?.byLabel ?? {})
      .filter(([one]) => one.includes(label))
      .reduce((sum, [, count]) => sum + count, 0),
  );
  return Math.min(...counts);
}

function arm(world: World, { upstreams, faults }: Cell): void {
  for (const upstream of upstreams) world.faults.set(upstream, faults);
}

const isNodes = ({ upstreams }: Cell): boolean => upstreams.some((name) => RPCS.includes(name));

const isVenues = ({ upstreams }: Cell): boolean => upstreams.some((name) => name in PRICE_VENUES);

/** The calls that a cell's fault is about. */
const labelOf = (cell: Cell): string => (cell.phase === 'during' && isNodes(cell) ? 'sendTransaction' : '');

/** A node's fault affects the send itself; any other fault begins while a send is delayed. */
async function armDuringSend(world: World, cell: Cell): Promise<void> {
  if (isNodes(cell)) return arm(world, cell);
  for (const rpc of RPCS)
    world.faults.set(rpc, { kind: 'delay', ms: SEND_HELD_MS, match: 'sendTransaction' });
  const before = asked(world, RPCS, 'sendTransaction');
  await until('a send', () => (asked(world, RPCS, 'sendTransaction') > before ? true : undefined));
  arm(world, cell);
}

/** Requests to the upstream for which a fault lasts that does not last to the end. */
const FAULTY_REQUESTS = 2;

/** Keeps the fault for the cell's duration, or until every swap has ended. */
async function keepFault(
  world: World,
  caller: SwapCaller,
  cell: Cell,
  ids: readonly string[],
  before: number,
): Promise<void> {
  // A fault that is there while something is sent is over with the send, unless it is the nodes' own.
  if (cell.phase === 'during' && !isNodes(cell)) return;
  const most = cell.lastsToTheEnd ? Number.POSITIVE_INFINITY : FAULTY_REQUESTS;
  await until('the fault has done its work', async () => {
    if (asked(world, cell.upstreams, labelOf(cell)) - before >= most) return true;
    const states = await Promise.all(ids.map((id) => caller.status(id)));
    return states.every(({ body }) => body.status === 'finished' || body.status === 'failed') || undefined;
  });
}

/** The status of a swap that still waits after repeated requests to the bridge. */
async function waitInVain(world: World, caller: SwapCaller, id: string): Promise<Body> {
  const before = asked(world, ['oneclick'], 'GET /v0/status');
  await until('the bridge has reported no end', () =>
    asked(world, ['oneclick'], 'GET /v0/status') - before >= LOOKS_IN_VAIN ? true : undefined,
  );
  return (await caller.status(id)).body;
}

/** One cell: the fault, the swap, then the state of both chains and the service. */
async function runCell(world: World, caller: SwapCaller, cell: Cell, number: number): Promise<Outcome> {
  const payments = caller.payments().length;
  const sats = caller.sats();
  const rows = (await caller.rows()).length;
  const keys = Array.from({ length: cell.swaps }, () => randomUUID());
  const ip = `10.${number >> 8}.${number & 255}.1`;
  const create = (key: string): Promise<Answer> => caller.create(AMOUNT_SOL, { key, ip });

  await cell.prepare?.(world);
  let before = asked(world, cell.upstreams, labelOf(cell));
  if (cell.phase === 'before') arm(world, cell);
  const arming = cell.phase === 'during' ? armDuringSend(world, cell) : undefined;
  // Three digits of the amount are part of its quote's cache key, so that each cell requests a new quote.
  const estimate =
    cell.phase === 'before' ? caller.get(`/api/swap/estimate?amountSol=0.${400 + number}`) : undefined;
  const answers = await Promise.all(keys.map(create));
  await arming;
  const ids = answers.flatMap(({ status, body }) => (status === 200 ? [String(body.id)] : []));
  if (cell.phase === 'after') {
    before = asked(world, cell.upstreams, '');
    arm(world, cell);
  }
  const early = cell.result.includes('waiting')
    ? await Promise.all(ids.map((id) => waitInVain(world, caller, id)))
    : undefined;
  if (early === undefined) await keepFault(world, caller, cell, ids, before);
  world.faults.clear();
  world.prices.set({ BTC: '80000', SOL: '100' });

  const ends = early ?? (await Promise.all(ids.map(caller.settled)));
  const seen = {
    payments: caller.payments().slice(payments),
    arrivedSats: caller.sats() - sats,
    rows: (await caller.rows()).slice(rows),
  };
  const repeats = seen.rows.length === 0 ? [] : await Promise.all(keys.map(create));
  const verdict = judge({
    ...seen,
    amountSol: AMOUNT_SOL,
    amountLamports: AMOUNT_LAMPORTS,
    answers,
    ends,
    repeats,
    paymentsAtEnd: caller.payments().length - payments,
    bitcoinPayment: caller.bitcoinPayment,
    estimate: await estimate,
  });
  return { cell, ...verdict };
}

const WORLDS = 3;

/**
 * Runs cells on three worlds at a time, each swap with its own key and address. Worlds start and stop
 * together: they share one thread, and an upstream that is blocked by a start would be an additional fault.
 *
 * @returns their outcomes in the order of the cells
 */
export async function runCells(cells: readonly Cell[]): Promise<Outcome[]> {
  const outcomes = new Map<Cell, Outcome>();
  const queue = [...cells];

  async function runOn(world: World): Promise<void> {
    const caller = createSwapCaller(world);
    for (let number = 1; number <= CELLS_A_WORLD; number += 1) {
      const cell = queue.shift();
      if (cell === undefined) return;
      const outcome = await runCell(world, caller, cell, number).catch(
        (error: unknown): Outcome => ({ cell, result: 'broke off', violations: [String(error)] }),
      );
      outcomes.set(cell, outcome);
      if (isNodes(cell) || isVenues(cell)) await sleep(READ_SHARED_MS + 1);
      // An upstream that hangs is skipped for half a minute. A new instance calls it again.
      if (cell.faults.some(({ kind }) => kind === 'hang')) await world.worker.evict();
      // An aborted cell may have left any state behind.
      if (outcome.result === 'broke off') return;
    }
  }

  while (queue.length > 0) {
    const count = Math.min(WORLDS, queue.length);
    const worlds = await Promise.all(Array.from({ length: count }, startMatrixWorld));
    try {
      await Promise.all(worlds.map(runOn));
    } finally {
      await Promise.all(worlds.map((world) => world.stop()));
    }
  }
  return cells.flatMap((cell) => outcomes.get(cell) ?? []);
}

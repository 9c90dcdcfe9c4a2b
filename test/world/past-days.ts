import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS, HOUR_MS } from '../../src/core/durations.ts';
import { WAIT_MS } from '../patience.ts';
import { mintOfTheDay } from './mint-of-the-day.ts';
import { createPastToken, PAST_TOKENS, post } from './past-tokens.ts';
import type { World } from './world.ts';

const PAUSE_MS = 250;
/** SOL of the swaps of the past, one on every second day. */
const PAST_SWAPS_SOL = [0.34, 0.6, 0.41, 0.32, 0.75, 0.38, 0.5, 0.33, 0.65, 0.45];
/** The swap of today, which is under way when the world is ready. */
const LAST_SWAP_SOL = 0.5;
/** The depth at which a mint counts a payment. */
const DEPTH = 6;

/** @returns the path of the swap's status */
async function createSwap(world: World, amountSol: number): Promise<string> {
  const { id } = await post<{ readonly id: string }>(world, '/api/swap/create', { amountSol });
  return `/api/swap/status/${id}`;
}

/** Waits until a swap's BTC has arrived, and buries the payment as deep as a mint requires. */
async function finishSwap(world: World, path: string): Promise<void> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(PAUSE_MS)) {
    const { status } = (await (await world.fetch(path)).json()) as { readonly status: string };
    if (status === 'finished') return world.control.mine(DEPTH);
  }
  throw new Error(`not finished: ${path}`);
}

/** Lets a day pass as the schedule does: the cron signs the proof of each hour. */
async function passHourly(world: World): Promise<void> {
  for (let passed = 0; passed < DAY_MS; passed += HOUR_MS) {
    await world.control.pass(HOUR_MS);
    await world.control.cron();
  }
}

/**
 * Lets a world that began in the past live until today. All clocks show the past day, and the service itself swaps SOL, mints
 * what has arrived, signs proofs and creates the tokens that users order. Only the last day has the proof of each hour:
 * an hour takes about a second.
 */
export async function livePastDays({ world, days }: { world: World; days: number }): Promise<void> {
  let newest = '';
  for (let day = 0; day < days; day += 1) {
    newest = await mintOfTheDay(world, newest);
    const amountSol = day % 2 === 1 ? PAST_SWAPS_SOL[(day - 1) / 2] : undefined;
    const swap = amountSol === undefined ? undefined : await createSwap(world, amountSol);
    const token = PAST_TOKENS[day];
    if (token !== undefined) await createPastToken(world, token);
    if (swap !== undefined) await finishSwap(world, swap);
    await (day < days - 1 ? world.control.pass(DAY_MS) : passHourly(world));
  }
  await mintOfTheDay(world, newest);
  await createSwap(world, LAST_SWAP_SOL);
}

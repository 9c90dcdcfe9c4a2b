import { mintOfTheDay } from './mint-of-the-day.ts';
import { createPastToken, PAST_TOKENS } from './past-tokens.ts';
import type { World } from './world.ts';

/** Satoshis that arrive one after the other. */
const ARRIVALS = [42_000n, 18_500n, 31_000n, 7_500n, 56_000n, 24_000n, 12_500n, 38_000n, 15_000n, 61_000n];
const DAYS_BETWEEN = 4;
/** The swap of today, which is under way when the world is ready. */
const LAST_SWAP_SOL = 0.5;
/** The depth at which a mint counts a payment. */
const DEPTH = 6;

/**
 * Lets a world that began in the past live until today. All clocks show the past day, and the service itself mints what has
 * arrived, signs each day's proof and creates the tokens that users order.
 */
export async function livePastDays({ world, days }: { world: World; days: number }): Promise<void> {
  const { control, reserve } = world;
  let newest = '';
  for (let day = 0; day < days; day += 1) {
    newest = await mintOfTheDay(world, newest);
    const arrival = day % DAYS_BETWEEN === 0 ? ARRIVALS[day / DAYS_BETWEEN] : undefined;
    if (arrival !== undefined) {
      await control.sendBitcoin(reserve.bitcoin, arrival);
      await control.mine(DEPTH);
    }
    const token = PAST_TOKENS[day];
    if (token !== undefined) await createPastToken(world, token);
    await control.passDay();
  }
  await mintOfTheDay(world, newest);
  const swap = await world.fetch('/api/swap/create', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ amountSol: LAST_SWAP_SOL }),
  });
  if (!swap.ok) throw new Error(`no swap: ${await swap.text()}`);
}

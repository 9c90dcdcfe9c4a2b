import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_MS } from '../patience.ts';
import type { World } from './world.ts';

const PAUSE_MS = 250;

type Proof = { readonly hash: string; readonly figures?: Readonly<Record<string, string | null>> };

/**
 * Runs the cron until the day's mint has landed and a new proof includes its tokens. Until then the chain has more tokens than
 * the proof.
 * @param earlier hash of the last proof of the day before
 * @returns the hash of the new proof
 */
export async function mintOfTheDay(world: World, earlier = ''): Promise<string> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(PAUSE_MS)) {
    await world.control.cron();
    const response = await world.fetch('/api/proof', { headers: { 'cache-control': 'no-cache' } });
    const { hash, figures } = (await response.json()) as Proof;
    const isComplete = figures !== undefined && figures.absrSupplyAtoms === figures.reserveSatoshis;
    if (isComplete && hash !== earlier) return hash;
  }
  throw new Error('no proof names a mint of the whole reserve');
}

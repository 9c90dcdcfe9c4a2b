import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_MS } from '../patience.ts';
import type { World } from './world.ts';

const PAUSE_MS = 250;

/**
 * Runs the cron until the day's mint has landed and the newest proof includes its tokens. Until then the chain has more
 * tokens than the proof.
 */
export async function mintOfTheDay(world: World): Promise<void> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(PAUSE_MS)) {
    await world.control.cron();
    const response = await world.fetch('/api/proof');
    const { figures } = (await response.json()) as { figures?: { absrSupplyAtoms: string | null } };
    if (/^[1-9]/.test(figures?.absrSupplyAtoms ?? '')) return;
  }
  throw new Error('no proof names a mint');
}

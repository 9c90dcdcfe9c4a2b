/** Upstream calls caused by a thousand requests. */
import { createSwapCaller } from '../../test/e2e/swap-caller.ts';
import { startWorld, type World } from '../../test/world/world.ts';
import type { Row } from './row.ts';

const REQUESTS = 1_000;
const AT_ONCE = 20;

async function upstreamCalls(world: World, path: (index: number) => string): Promise<Record<string, number>> {
  world.resetStats();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < REQUESTS; index = next++) {
      const answer = await world.fetch(path(index), { ip: `10.9.${index >> 8}.${index & 255}` });
      await answer.text();
      if (answer.status !== 200) throw new Error(`${path(index)}: ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const counts = Object.entries(world.stats()).map(([name, { total }]) => [name, total] as const);
  return Object.fromEntries(counts.filter(([, total]) => total > 0));
}

export async function calls(): Promise<Row[]> {
  const world = await startWorld({ cron: false });
  try {
    const caller = createSwapCaller(world);
    const { body } = await caller.create(0.5);
    await caller.settled(String(body.id));
    const kinds = [
      ['polls of a swap', () => `/api/swap/status/${body.id}`],
      [
        'estimates of 20 amounts',
        (index: number) => `/api/swap/estimate?amountSol=${(0.5 + (index % 20) / 100).toFixed(2)}`,
      ],
      ['reads of the reserves', () => '/api/reserves'],
      ['reads of the bounds of a swap', () => '/api/swap/min'],
    ] as const;
    const rows: Row[] = [];
    for (const [what, path] of kinds) {
      const counts = await upstreamCalls(world, path);
      const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const told = Object.entries(counts)
        .map(([name, count]) => `${name} ${count}`)
        .join(', ');
      rows.push({
        what: `upstream calls of ${REQUESTS.toLocaleString('en')} ${what}`,
        ours: told === '' ? '0' : `${all}: ${told}`,
        limit: '',
        ratio: null,
        aim: null,
      });
    }
    return rows;
  } finally {
    await world.stop();
  }
}

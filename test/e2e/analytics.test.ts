/** @module-tag deep */
import { expect, it } from 'vitest';
import { useWorld } from '../world/use-world.ts';

const world = useWorld({ cron: false, blockMs: 0 });

const view = (body: unknown, ip: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  world.fetch('/api/analytics/pageview', {
    method: 'POST',
    ip,
    ...(signal ? { signal } : {}),
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

type Stats = { totals: { pageviews: number }; by_path: { path: string; count: number }[] };
const stats = async () => (await (await world.fetch('/api/analytics/stats')).json()) as Stats;
const logged = async () => {
  const [row] = (await world.worker.pageViews('SELECT count(*) AS n FROM views')) as { n: number }[];
  return row?.n ?? 0;
};

it('waiting callers get their response even if another one disconnects', async () => {
  const before = await logged();
  const leaving = Array.from({ length: 20 }, (_, n) => {
    const gone = new AbortController();
    const sent = view({ path: '/gone' }, `198.51.101.${n}`, {}, gone.signal).catch(() => undefined);
    setTimeout(() => gone.abort(), n);
    return sent;
  });
  const staying = Array.from({ length: 60 }, (_, n) => view({ path: '/stays' }, `198.51.102.${n}`));
  expect(new Set((await Promise.all(staying)).map(({ status }) => status))).toEqual(new Set([204]));
  await Promise.all(leaving);
  expect((await view({ path: '/stays' }, '198.51.102.200')).status).toBe(204);
  const { by_path } = await stats();
  expect(by_path.find(({ path }) => path === '/stays')?.count).toBe(61);
  expect(await logged()).toBeGreaterThanOrEqual(before + 61);
});

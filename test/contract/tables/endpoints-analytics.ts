import { expect } from 'vitest';
import { expectError, fields, row, type Table } from '../table.ts';
import type { Contract } from '../world.ts';

const PAGEVIEW = 'POST /api/analytics/pageview';
const STATS = 'GET /api/analytics/stats';

/** Neither a write nor a read of the log can succeed meanwhile. */
export async function withoutLog<T>(contract: Contract, work: () => Promise<T>): Promise<T> {
  const { world } = contract;
  await world.worker.pageViews('ALTER TABLE views RENAME TO away');
  try {
    // The object keeps its last statistics until it writes.
    await contract.ask(PAGEVIEW, { body: { path: '/' } });
    return await work();
  } finally {
    await world.worker.pageViews('ALTER TABLE away RENAME TO views');
  }
}

export const endpointsAnalytics: Table = {
  title: 'Endpoints > Analytics',
  key: [0, 1],
  rows: [
    row('POST | /api/analytics/pageview', async (contract) => {
      for (const body of [
        { path: '/' },
        { path: '/a', referrer: '' },
        { path: '/a', referrer: 'https://b.test/' },
      ]) {
        const { status, body: answered } = await contract.ask(PAGEVIEW, { body });
        expect([status, answered.text]).toEqual([204, '']);
      }
      for (const body of [{}, { path: 'a' }, { path: '' }, { path: 7 }, { path: '/a', referrer: 7 }])
        expectError(await contract.ask(PAGEVIEW, { body }), 400, 'INVALID_INPUT');
      const failed = await withoutLog(contract, () => contract.ask(PAGEVIEW, { body: { path: '/' } }));
      expectError(failed, 500, 'ANALYTICS_WRITE_FAILED');
    }),
    row('GET | /api/analytics/stats', async (contract) => {
      fields(STATS, '', { totals: 'object', by_path: 'array', recent: 'array' })(contract);
      expect((await contract.ask(STATS)).headers.get('cache-control')).toBe('no-store');
      expectError(await withoutLog(contract, () => contract.ask(STATS)), 500);
    }),
  ],
};

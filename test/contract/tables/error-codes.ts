import { expect } from 'vitest';
import { expectError, row, type Table } from '../table.ts';
import { withoutLog } from './endpoints-analytics.ts';

// Not the unknown pool of the table of pools, whose absence is remembered.
const OTHER_POOL = '9vqYJjDUFecLL2xPUC4Rc7hyCtZ6iJ4mDiVZX7aFXoAe';

const CREATE = 'POST /api/swap/create';
const POSTS = 'GET /api/nostr/posts';
const PAGEVIEW = 'POST /api/analytics/pageview';
export const errorCodes: Table = {
  title: 'Errors (2)',
  key: [0],
  rows: [
    row('INSUFFICIENT_BALANCE', async (contract) => {
      const answer = await contract.ask(CREATE, { world: contract.poor, body: { amountSol: 0.3 } });
      expectError(answer, 400, 'INSUFFICIENT_BALANCE');
      expect(answer.body.action).toBe('top_up_wallet');
    }),
    row('NO_IDENTITY', async (contract) => {
      const { status, body } = await contract.ask(POSTS, { world: contract.poor });
      expect([status, body.ok, body.code]).toEqual([200, false, 'NO_IDENTITY']);
    }),
    row('ANALYTICS_WRITE_FAILED', async (contract) => {
      const write = () => contract.ask(PAGEVIEW, { body: { path: '/' } });
      expectError(await withoutLog(contract, write), 500, 'ANALYTICS_WRITE_FAILED');
      expect((await write()).status).toBe(204);
    }),
    row('dex_non_json', async (contract) => {
      contract.world.faults.set('orca', { kind: 'html' });
      const { body } = await contract.ask(`GET /api/dex/pool/${OTHER_POOL}`);
      contract.world.faults.clear();
      expect(body.error).toBe('dex_non_json');
      expect(body.body_preview).toContain('<!DOCTYPE html>');
    }),
  ],
};

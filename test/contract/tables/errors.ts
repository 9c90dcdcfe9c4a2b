import { expect } from 'vitest';
import { expectError, type Row, row, type Table } from '../table.ts';
import { withoutLog } from './endpoints.ts';

const bodyRow = (name: string, isRight: (value: unknown) => void): Row => ({
  row: name,
  async check(contract) {
    for (const call of [
      'GET /api/swap/estimate',
      'GET /api/swap/status/none',
      'POST /api/analytics/pageview',
    ])
      isRight((await contract.ask(call)).body[name]);
  },
});

export const errorBody: Table = {
  title: 'Resources and their fields > Error body',
  key: [0],
  rows: [
    bodyRow('error_code', (code) => expect(code).toMatch(/^[A-Z][A-Z0-9_]*$/)),
    bodyRow('error', (text) => expect(text).toMatch(/\S/)),
    bodyRow('action', (action) => expect(action).toMatch(/^[a-z_]+$/)),
  ],
};

const CREATE = 'POST /api/swap/create';
const CLAIM = 'POST /api/asry/claim-from-deposit';
const PAGEVIEW = 'POST /api/analytics/pageview';
const NODES = ['rpc1', 'rpc2'] as const;

export const errorStatuses: Table = {
  title: 'Errors (1)',
  key: [0],
  rows: [
    row('400', async (contract) => {
      expectError(await contract.ask('GET /api/swap/estimate?amountSol=x'), 400);
      for (const call of [CREATE, CLAIM, PAGEVIEW, 'POST /api/invoices', 'POST /api/exchange/create']) {
        expectError(await contract.ask(call, { body: { nothing: 'of it' } }), 400, 'INVALID_INPUT');
        expectError(await contract.ask(call, { body: '{' }), 400, 'INVALID_JSON');
      }
      expectError(await contract.ask('GET /api/dex/pool/x'), 400);
    }),
    row('404', async (contract) => {
      for (const path of ['/api/swap/status/x', '/api/tokens/999999', `/api/asry/claims/${'5'.repeat(88)}`])
        expectError(await contract.ask(`GET ${path}`), 404);
    }),
    row('409', async (contract) => {
      expectError(await contract.ask(CLAIM, { body: contract.sent(CLAIM), ip: '10.3.0.1' }), 409);
    }),
    row('429', async (contract) => {
      let limited: Awaited<ReturnType<typeof contract.ask>> | undefined;
      // Two windows at most: the first may end while it fills. A request counts whether or not it is valid.
      for (let sent = 0; sent < 1_300 && limited === undefined; sent += 50) {
        const views = Array.from({ length: 50 }, () => contract.ask(PAGEVIEW, { body: '{', ip: '10.3.0.2' }));
        limited = (await Promise.all(views)).find(({ status }) => status === 429);
      }
      expectError(limited ?? { status: 0, body: {} }, 429, 'RATE_LIMITED');
      expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await contract.ask(PAGEVIEW, { body: { path: '/' }, ip: '10.3.0.3' })).status).toBe(204);
    }),
    row('500', async (contract) => {
      const { world } = contract;
      for (const rpc of NODES) world.faults.set(rpc, { kind: 'html' });
      for (const relay of ['relay1', 'relay2'] as const) world.faults.set(relay, { kind: 'drop' });
      const body = { asset: 'USDT', depositTxSignature: '4'.repeat(88) };
      const claim = await contract.ask(CLAIM, { body, ip: '10.3.0.4' });
      const feed = await contract.ask('GET /api/nostr/feed?topic_labels=never-asked-before');
      world.faults.clear();
      expectError(claim, 500, 'UPSTREAM_FAILED');
      expect([feed.status, feed.body.ok]).toEqual([500, false]);
    }),
    row('502', async (contract) => {
      const create = (ip: string) => contract.ask(CREATE, { body: { amountSol: 0.3 }, ip });
      contract.world.faults.set('oneclick', { kind: 'html' });
      const bridge = await create('10.3.0.5');
      contract.world.faults.clear();
      for (const rpc of NODES) contract.world.faults.set(rpc, { kind: '500', match: 'getLatestBlockhash' });
      const chain = await create('10.3.0.6');
      contract.world.faults.clear();
      expectError(bridge, 502, 'UPSTREAM_FAILED');
      expectError(chain, 502, 'UPSTREAM_FAILED');
    }),
    row('503', async (contract) => {
      const { poor: world } = contract;
      const body = contract.sent('POST /api/exchange/create');
      expectError(await contract.ask('POST /api/exchange/create', { world, body }), 503, 'NOT_CONFIGURED');
    }),
  ],
};

/** Not the unknown pool of the table of pools, whose absence is remembered. */
const OTHER_POOL = '9vqYJjDUFecLL2xPUC4Rc7hyCtZ6iJ4mDiVZX7aFXoAe';

const POSTS = 'GET /api/nostr/posts';
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

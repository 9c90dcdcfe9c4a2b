import { beforeEach, expect, it } from 'vitest';
import type { SwapRow } from '../../src/features/swap/swap-store.ts';
import { eachScene } from '../kit/scenes.ts';
import { newService, row, type Service, SIGNATURE, swapApp, view } from './swap-service.ts';

let service: Service;
beforeEach(() => {
  service = newService();
});
const call = swapApp(() => service);

const get = (path: string) => call(path);

it('the state of a swap shows each amount as a number and as exact text', async () => {
  expect(await (await get(`/api/swap/status/${SIGNATURE}`)).json()).toEqual({
    ...{ id: SIGNATURE, status: 'finished', detail: 'done', reason: null, nextPollSeconds: null },
    ...{ amountSol: 2.01, amountLamports: '2010000000', txId: 't'.repeat(64) },
    ...{ btcSats: 249_999, btcSatoshis: '249999', expectedSatoshis: '250000' },
  });
  const waiting = { status: 'waiting', final: false, btcSats: null, btcTxid: null } as const;
  service = { ...newService(), rows: () => [{ ...row, ...waiting }] };
  const open = { btcSats: null, txId: null, nextPollSeconds: 5 };
  expect(await (await get(`/api/swap/status/${SIGNATURE}`)).json()).toMatchObject(open);
});

it.each(['x', '../..', SIGNATURE.slice(1), `${SIGNATURE}1`, '1'.repeat(10_000), "' OR 1=1 --"])(
  'reading the invalid swap id %.40j returns NOT_FOUND without a read of D1',
  async (id) => {
    service.rows = () => expect.unreachable();
    expect((await get(`/api/swap/status/${encodeURIComponent(id)}`)).status).toBe(404);
  },
);

it('allows callers to cache a final swap permanently, and returns it to a long poll at once', async () => {
  const response = await get(`/api/swap/status/${SIGNATURE}`);
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const waited = await call(`/api/swap/status/${SIGNATURE}`, { headers: { prefer: 'wait=20' } });
  expect([waited.status, waited.headers.get('preference-applied')]).toEqual([200, 'wait=20']);
});

it('a failed swap whose payment may still arrive is not cached', async () => {
  const failed = { status: 'failed', detail: 'refunding', reason: 'refunded', final: false } as const;
  service.rows = () => [{ ...row, ...failed }];
  const response = await get(`/api/swap/status/${SIGNATURE}`);
  expect(response.headers.get('cache-control')).toBeNull();
});

it('the history lists every swap whose transaction has landed', async () => {
  const body = (await (await get('/api/exchanges/transactions')).json()) as { transactions: unknown[] };
  const amounts = { solAmount: 2.01, btcSats: 249_999, blockTime: 1_790_000_000 };
  expect(body.transactions).toMatchObject([{ signature: SIGNATURE, status: 'finished', ...amounts }]);
});

const D1: Readonly<Record<string, () => readonly SwapRow[]>> = {
  'has it': () => [row],
  'is down': () => {
    throw new Error('D1_ERROR');
  },
};
eachScene(`
  has it               | has it   | 200 done      | 0
  does not have it yet | has it   | 200 sent      | 1
  is down              | has it   | 200 sent      | 1
  does not have it     | does not | 404 NOT_FOUND | 1
`)('while D1 %s and the custodian %s, reading a swap returns %s after %s calls', async (...scene) => {
  const [d1 = '', custodian, answer, calls] = scene;
  service.rows = D1[d1] ?? (() => []);
  service.known = custodian === 'has it' ? view : null;
  const response = await get(`/api/swap/status/${SIGNATURE}`);
  const { detail, error_code } = (await response.json()) as Record<string, unknown>;
  expect([`${response.status} ${detail ?? error_code}`, String(service.finds)]).toEqual([answer, calls]);
});

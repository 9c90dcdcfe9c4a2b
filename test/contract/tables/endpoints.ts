/** Endpoints whose paths the contract names, without those of Nostr. */
import { expect } from 'vitest';
import type { Body } from '../../e2e/swap-caller.ts';
import { expectError, fields, type Row, row, type Table } from '../table.ts';
import type { Contract } from '../world.ts';

/** A read without parameters that answers 200 with these members. */
const read = (path: string, members: Parameters<typeof fields>[2]): Row =>
  row(`GET | ${path}`, async (contract) => {
    fields(`GET ${path}`, '', members)(contract);
    const { status, headers } = await contract.ask(`GET ${path}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

const document = read('/api/openapi.json', 'openapi: string, info: object, paths: object');

export const endpointsReserve: Table = {
  title: 'Endpoints > Reserve and proof',
  key: [0, 1],
  rows: [
    read('/api/reserves', 'bitcoin: object, solana: object'),
    read('/api/proof', 'message: string, timestamp: string, bitcoin: object, solana: object'),
    read('/api/transactions/bitcoin', 'transactions: array'),
    read('/api/transactions/solana', 'transactions: array'),
    read('/api/arbitrage/summary', 'btcPriceUsd: number, solPriceUsd: number, absrSupplySats: integer'),
    read('/api/explorer/treasury', 'treasury_address: string'),
    {
      ...document,
      async check(contract) {
        await document.check(contract);
        const { openapi, info } = contract.answer('GET /api/openapi.json');
        expect([openapi, info]).toEqual(['3.0.3', expect.objectContaining({ version: '1.1.0' })]);
      },
    },
  ],
};

const MINIMUM = 'GET /api/swap/min';
const ESTIMATE = 'GET /api/swap/estimate';
const CREATE_SWAP = 'POST /api/swap/create';
const STATUS = 'GET /api/swap/status/{id}';

export const endpointsSwap: Table = {
  title: 'Endpoints > Reserve swap',
  key: [0, 1],
  rows: [
    row('GET | /api/swap/min', fields(MINIMUM, '', 'minAmountSol: number, balanceSol: number | null')),
    row('GET | /api/swap/estimate', async (contract) => {
      fields(ESTIMATE, '', 'amountSol: number, estimatedBtcSats: integer')(contract);
      for (const query of ['', '?amountSol=0.0009', '?amountSol=abc'])
        expectError(await contract.ask(`${ESTIMATE}${query}`), 400, 'INVALID_INPUT');
    }),
    row('POST | /api/swap/create', async (contract) => {
      expect(contract.answer(CREATE_SWAP).initiated).toBe(true);
      for (const body of [{}, { amountSol: 0.0009 }, { amountSol: 'abc' }])
        expectError(await contract.ask(CREATE_SWAP, { body }), 400, 'INVALID_INPUT');
    }),
    row('GET | /api/swap/status/{id}', async (contract) => {
      fields(STATUS, '', 'id: string, status: string')(contract);
      expectError(await contract.ask(`GET /api/swap/status/${'1'.repeat(64)}`), 404, 'NOT_FOUND');
    }),
  ],
};

const CLAIM = 'POST /api/asry/claim-from-deposit';

export const endpointsAsry: Table = {
  title: 'Endpoints > ASRY claim',
  key: [0, 1],
  rows: [
    row('POST | /api/asry/claim-from-deposit', async (contract) => {
      fields(
        CLAIM,
        '',
        `
      asset: string, senderPubkey: string | null, receive: object, reward: object
    `,
      )(contract);
      expectError(await contract.ask(CLAIM, { body: {} }), 400, 'INVALID_INPUT');
      // The tour's claim has taken the whole reward of its deposit.
      const again = await contract.ask(CLAIM, { body: contract.sent(CLAIM) });
      expectError(again, 409);
      expect(again.body.action).toEqual(expect.any(String));
    }),
  ],
};

const CREATE_EXCHANGE = 'POST /api/exchange/create';

export const endpointsExchange: Table = {
  title: 'Endpoints > Exchange endpoints',
  key: [0, 1],
  rows: [
    row('POST | /api/exchange/create', async (contract) => {
      fields(
        CREATE_EXCHANGE,
        '',
        `
      id: string, payinAddress: string, payinAmount: number, payinCurrency: string, status: string,
      statusUrl: string
    `,
      )(contract);
      const good = contract.sent(CREATE_EXCHANGE);
      expect(contract.answer(CREATE_EXCHANGE).payinAmount).toBe(good.amount);
      for (const name of ['from', 'to', 'amount', 'payoutAddress'])
        expectError(
          await contract.ask(CREATE_EXCHANGE, { body: { ...good, [name]: undefined } }),
          400,
          'INVALID_INPUT',
        );
      for (const amount of [0, -1, 'abc'])
        expectError(await contract.ask(CREATE_EXCHANGE, { body: { ...good, amount } }), 400, 'INVALID_INPUT');
    }),
  ],
};

const POOL = 'GET /api/dex/pool/{address}';
/** On no chain and in no list. */
const UNKNOWN_POOL = '2PcVf2tbvvigfF5QzCbvo6LJddx6agAksTwc9f8E2tus';

/** The address of a pool in the world's configuration. */
const poolOf = ({ world }: Contract, name: string): string =>
  new RegExp(`${name}=(\\w+)`).exec(String(world.bindings.POOL_ADDRESSES))?.[1] ?? '';

const redirect = (path: string, pool: string): Row =>
  row(`GET | ${path}`, async (contract) => {
    const { status, headers } = await contract.ask(`GET ${path}`);
    expect(status).toBe(307);
    expect(headers.get('location')).toMatch(new RegExp(`/api/dex/pool/${poolOf(contract, pool)}$`));
  });

export const endpointsPools: Table = {
  title: 'Endpoints > Pool proxy',
  key: [0, 1],
  rows: [
    row('GET | /api/dex/pool/{address}', async (contract) => {
      fields(
        POOL,
        'data',
        `
      price: anything, tvlUsdc: anything, tokenBalanceA: anything, tokenBalanceB: anything, tokenA: object,
      tokenB: object, feeRate: number, stats: object
    `,
      )(contract);
      expectError(await contract.ask('GET /api/dex/pool/nothing'), 400, 'INVALID_INPUT');
      const unknown = await contract.ask(`GET /api/dex/pool/${UNKNOWN_POOL}`);
      expect(unknown.status).toBe(404);

      const other = poolOf(contract, 'sausd-usdc');
      contract.world.faults.set('orca', { kind: '500' });
      // The cron reads the configured pools again.
      await contract.world.control.cron();
      const { status, body } = await contract.ask(`GET /api/dex/pool/${other}`);
      contract.world.faults.clear();
      const data = body.data as Body;
      expect([status, data.poolDataSource]).toEqual([200, 'chain_rpc']);
      expect(data.swapFeePercentDisplay).toMatch(/^[\d.]+%?$/);
      expect([data.tvlUsdc, data.stats]).toEqual([undefined, undefined]);
    }),
    redirect('/api/dex/pool-default', 'default'),
    redirect('/api/dex/pool-saeth-sausd-default', 'saeth-sausd'),
    redirect('/api/dex/pool-sausd-usdc-default', 'sausd-usdc'),
  ],
};

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
      fields(STATS, '', 'totals: object, by_path: array, recent: array')(contract);
      expect((await contract.ask(STATS)).headers.get('cache-control')).toBe('no-store');
      expectError(await withoutLog(contract, () => contract.ask(STATS)), 500);
    }),
  ],
};

import { expect } from 'vitest';
import { fields, listOf, oneOf, orNull } from './shape.ts';
import { contractTable, errorBody } from './stage.ts';

const status = fields({
  id: 'string',
  status: oneOf('waiting', 'finished', 'failed'),
  amountSol: orNull('number'),
  btcSats: orNull('integer'),
});
let id = '';

contractTable([
  {
    row: 'GET /api/swap/min',
    request: 'GET /api/swap/min',
    status: 200,
    shape: fields({ minAmountSol: 'number', balanceSol: orNull('number') }),
  },
  {
    row: 'GET /api/swap/estimate',
    request: 'GET /api/swap/estimate?amountSol=0.5',
    status: 200,
    shape: fields({ amountSol: oneOf(0.5), estimatedBtcSats: 'integer' }),
  },
  {
    row: 'estimate: 400 on an invalid amount',
    request: 'GET /api/swap/estimate?amountSol=-1',
    status: 400,
    shape: errorBody(),
  },
  {
    row: 'estimate: amountSol is required',
    request: 'GET /api/swap/estimate',
    status: 400,
    shape: errorBody(),
  },
  {
    row: 'limits: estimate takes 0.001 at least',
    request: 'GET /api/swap/estimate?amountSol=0.0009',
    status: 400,
    shape: errorBody(),
  },
  {
    row: 'POST /api/swap/create: the state begins as waiting',
    request: 'POST /api/swap/create',
    body: { amountSol: 0.5 },
    status: 200,
    shape: fields({
      initiated: oneOf(true),
      id: 'string',
      amountSol: oneOf(0.5),
      expectedBtcSats: 'integer',
      solanaSignature: 'string',
      status: oneOf('waiting'),
      statusUrl: 'string',
      message: 'string',
    }),
    also: ({ body }) => {
      expect(body.id).toBe(body.solanaSignature);
      id = String(body.id);
    },
  },
  {
    row: 'GET /api/swap/status/{id}',
    request: () => `GET /api/swap/status/${id}`,
    status: 200,
    shape: status,
  },
  {
    row: 'states: waiting becomes finished when the BTC is there',
    request: async ({ until }) => {
      await until(`GET /api/swap/status/${id}`, (body) => body.status !== 'waiting');
      return `GET /api/swap/status/${id}`;
    },
    status: 200,
    shape: fields({ id: 'string', status: oneOf('finished'), amountSol: 'number', btcSats: 'integer' }),
  },
  {
    row: 'status: 404 when not found',
    request: `GET /api/swap/status/${'1'.repeat(64)}`,
    status: 404,
    shape: errorBody(),
  },
  {
    row: 'reserve swap history',
    request: 'GET /api/exchanges/transactions',
    status: 200,
    shape: fields({
      transactions: listOf(
        fields({
          signature: 'string',
          txId: orNull('string'),
          solAmount: 'number',
          btcSats: orNull('integer'),
          blockTime: orNull('integer'),
        }),
      ),
    }),
    also: ({ body }) => expect(body.transactions).toHaveLength(1),
  },
  {
    row: 'create: 400 bad request',
    request: 'POST /api/swap/create',
    body: { amountSol: 'abc' },
    status: 400,
    shape: errorBody(),
  },
  {
    row: 'limits: create takes 0.001 at least',
    request: 'POST /api/swap/create',
    body: { amountSol: 0.0009 },
    status: 400,
    shape: errorBody(),
  },
  {
    row: 'error codes: INSUFFICIENT_BALANCE with top_up_wallet',
    request: 'POST /api/swap/create',
    body: { amountSol: 1_000 },
    status: 400,
    shape: fields({
      error_code: oneOf('INSUFFICIENT_BALANCE'),
      error: 'string',
      action: oneOf('top_up_wallet'),
    }),
  },
  {
    row: 'create: 502 upstream error',
    request: ({ world }) => {
      world.faults.set('oneclick', { kind: '500' });
      return 'POST /api/swap/create';
    },
    body: { amountSol: 0.6 },
    status: 502,
    shape: errorBody(),
  },
  {
    row: 'states: waiting becomes failed when the provider reports failure',
    request: async ({ world, call, until }) => {
      world.faults.clear();
      world.faults.set('oneclick', { kind: 'settle', mode: 'failed' });
      const created = await call('POST /api/swap/create', { amountSol: 0.7 });
      const path = `GET /api/swap/status/${created.body.id}`;
      await until(path, (body) => body.status !== 'waiting');
      return path;
    },
    status: 200,
    shape: fields({ id: 'string', status: oneOf('failed'), amountSol: 'number', btcSats: orNull('integer') }),
  },
]);

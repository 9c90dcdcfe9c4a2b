import { expect } from 'vitest';
import { fields, listOf, orNull } from './shape.ts';
import { contractTable, errorBody } from './stage.ts';

contractTable([
  {
    row: 'GET /api/reserves: the reserve report',
    request: 'GET /api/reserves',
    status: 200,
    shape: fields({
      bitcoin: fields({
        address: orNull('string'),
        balanceBtc: orNull('number'),
        balanceSat: orNull('integer'),
      }),
      solana: fields({ address: orNull('string'), balanceSol: orNull('number') }),
    }),
    also: ({ body }, { world }) => {
      expect(body).toMatchObject({
        bitcoin: { address: world.reserve.bitcoin },
        solana: { address: world.reserve.solana },
      });
    },
  },
  {
    row: 'GET /api/proof: the ownership proof',
    request: 'GET /api/proof',
    status: 200,
    shape: fields({
      message: 'string',
      timestamp: 'string',
      bitcoin: fields({ address: 'string', signature: 'string' }),
      solana: fields({ address: 'string', signature: 'string' }),
    }),
  },
  {
    row: 'GET /api/transactions/bitcoin: entries, most recent first',
    request: 'GET /api/transactions/bitcoin',
    status: 200,
    shape: fields({
      transactions: listOf(
        fields({ txid: 'string', blockTime: orNull('integer'), blockHeight: orNull('integer') }),
      ),
    }),
    also: ({ body }) => expect((body.transactions as unknown[]).length).toBeGreaterThan(0),
  },
  {
    row: 'GET /api/transactions/solana: entries',
    request: 'GET /api/transactions/solana',
    status: 200,
    shape: fields({ transactions: listOf(fields({ signature: 'string', blockTime: orNull('integer') })) }),
    also: ({ body }) => {
      for (const entry of body.transactions as object[]) expect(entry).toHaveProperty('err');
    },
  },
  {
    row: 'GET /api/arbitrage/summary: the ABSR summary',
    request: 'GET /api/arbitrage/summary',
    status: 200,
    shape: fields({
      btcPriceUsd: orNull('number'),
      solPriceUsd: orNull('number'),
      absrSupplySats: orNull('integer'),
      absrSupplyUsd: orNull('number'),
      absrTokenSupply: orNull('number'),
    }),
  },
  {
    row: 'ABSR transactions',
    request: 'GET /api/arbitrage/transactions',
    status: 200,
    shape: fields({
      transactions: listOf(
        fields({
          signature: orNull('string'),
          txId: orNull('string'),
          type: 'string',
          amountSats: 'integer',
          amountUsd: orNull('number'),
          blockTime: orNull('integer'),
        }),
      ),
    }),
  },
  {
    row: 'GET /api/explorer/treasury',
    request: 'GET /api/explorer/treasury',
    status: 200,
    shape: fields({ treasury_address: 'string' }),
  },
  {
    row: 'GET /api/openapi.json: OpenAPI 3.0.3, version 1.1.0',
    request: 'GET /api/openapi.json',
    status: 200,
    shape: fields({
      openapi: { oneOf: ['3.0.3'] },
      info: fields({ version: { oneOf: ['1.1.0'] } }),
      paths: 'object',
    }),
  },
  {
    row: 'other lookups: 404 with the error body',
    request: 'GET /api/nothing',
    status: 404,
    shape: errorBody(),
  },
]);

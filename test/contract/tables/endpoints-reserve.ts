import { expect } from 'vitest';
import { fields, type Row, row, type Table } from '../table.ts';

/** A read without parameters that answers 200 with these members. */
const read = (path: string, members: Parameters<typeof fields>[2]): Row =>
  row(`GET | ${path}`, async (contract) => {
    fields(`GET ${path}`, '', members)(contract);
    const { status, headers } = await contract.ask(`GET ${path}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

const document = read('/api/openapi.json', { openapi: 'string', info: 'object', paths: 'object' });

export const endpointsReserve: Table = {
  title: 'Endpoints > Reserve and proof',
  key: [0, 1],
  rows: [
    read('/api/reserves', { bitcoin: 'object', solana: 'object' }),
    read('/api/proof', { message: 'string', timestamp: 'string', bitcoin: 'object', solana: 'object' }),
    read('/api/transactions/bitcoin', { transactions: 'array' }),
    read('/api/transactions/solana', { transactions: 'array' }),
    read('/api/arbitrage/summary', {
      btcPriceUsd: 'number',
      solPriceUsd: 'number',
      absrSupplySats: 'integer',
    }),
    read('/api/explorer/treasury', { treasury_address: 'string' }),
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

import { expect } from 'vitest';
import { valuesAt } from '../answer-shape.ts';
import { fields, row, type Table } from '../table.ts';

const BITCOIN = 'GET /api/transactions/bitcoin';
const bitcoin = fields(
  BITCOIN,
  'transactions[]',
  'txid: string, blockTime: integer | null, blockHeight: integer | null',
);

export const transactionLists: Table = {
  title: 'Resources and their fields > Transaction list entries',
  key: [0],
  rows: [
    row(BITCOIN, (contract) => {
      bitcoin(contract);
      const heights = valuesAt(contract.answer(BITCOIN), 'transactions[].blockHeight').map(Number);
      expect(heights).toEqual(heights.toSorted((a, b) => b - a));
    }),
    row(
      'GET /api/transactions/solana',
      fields(
        'GET /api/transactions/solana',
        'transactions[]',
        'signature: string, blockTime: integer | null, err: anything',
      ),
    ),
    row(
      'ABSR transactions',
      fields(
        'GET /api/arbitrage/transactions',
        'transactions[]',
        `
      signature: string, txId: string | null, type: string, amountSats: integer, amountUsd: number | null,
      blockTime: integer | null
    `,
      ),
    ),
    row(
      'Reserve swap history',
      fields(
        'GET /api/exchanges/transactions',
        'transactions[]',
        `
      signature: string, txId: string | null, solAmount: number, btcSats: integer | null,
      blockTime: integer | null
    `,
      ),
    ),
  ],
};

import { expect } from 'vitest';
import { field, type Table } from '../table.ts';

const CALL = 'GET /api/swap/status/{id}';

export const swapStatus: Table = {
  title: 'Resources and their fields > Swap status (GET /api/swap/status/{id} response)',
  key: [0],
  rows: [
    field(CALL, 'id', 'string', {
      is: (id, contract) => expect(id).toBe(contract.answer('POST /api/swap/create').id),
    }),
    field(CALL, 'status', 'string', {
      is: (status) => expect(['waiting', 'finished', 'failed']).toContain(status),
    }),
    field(CALL, 'amountSol', 'number', { nullable: true }),
    field(CALL, 'btcSats', 'integer', { nullable: true }),
  ],
};

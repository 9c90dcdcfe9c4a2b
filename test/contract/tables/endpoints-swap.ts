import { expect } from 'vitest';
import { expectError, fields, row, type Table } from '../table.ts';

const MINIMUM = 'GET /api/swap/min';
const ESTIMATE = 'GET /api/swap/estimate';
const CREATE = 'POST /api/swap/create';
const STATUS = 'GET /api/swap/status/{id}';

export const endpointsSwap: Table = {
  title: 'Endpoints > Reserve swap',
  key: [0, 1],
  rows: [
    row('GET | /api/swap/min', fields(MINIMUM, '', { minAmountSol: 'number', balanceSol: 'number | null' })),
    row('GET | /api/swap/estimate', async (contract) => {
      fields(ESTIMATE, '', { amountSol: 'number', estimatedBtcSats: 'integer' })(contract);
      for (const query of ['', '?amountSol=0.0009', '?amountSol=abc'])
        expectError(await contract.ask(`${ESTIMATE}${query}`), 400, 'INVALID_INPUT');
    }),
    row('POST | /api/swap/create', async (contract) => {
      expect(contract.answer(CREATE).initiated).toBe(true);
      for (const body of [{}, { amountSol: 0.0009 }, { amountSol: 'abc' }])
        expectError(await contract.ask(CREATE, { body }), 400, 'INVALID_INPUT');
    }),
    row('GET | /api/swap/status/{id}', async (contract) => {
      fields(STATUS, '', { id: 'string', status: 'string' })(contract);
      expectError(await contract.ask(`GET /api/swap/status/${'1'.repeat(64)}`), 404, 'NOT_FOUND');
    }),
  ],
};

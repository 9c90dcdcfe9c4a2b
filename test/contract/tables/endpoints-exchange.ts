import { expect } from 'vitest';
import { expectError, fields, row, type Table } from '../table.ts';

const CALL = 'POST /api/exchange/create';

export const endpointsExchange: Table = {
  title: 'Endpoints > Exchange endpoints',
  key: [0, 1],
  rows: [
    row('POST | /api/exchange/create', async (contract) => {
      fields(CALL, '', {
        id: 'string',
        payinAddress: 'string',
        payinAmount: 'number',
        payinCurrency: 'string',
        status: 'string',
        statusUrl: 'string',
      })(contract);
      const good = contract.sent(CALL);
      expect(contract.answer(CALL).payinAmount).toBe(good.amount);
      for (const name of ['from', 'to', 'amount', 'payoutAddress'])
        expectError(await contract.ask(CALL, { body: { ...good, [name]: undefined } }), 400, 'INVALID_INPUT');
      for (const amount of [0, -1, 'abc'])
        expectError(await contract.ask(CALL, { body: { ...good, amount } }), 400, 'INVALID_INPUT');
    }),
  ],
};

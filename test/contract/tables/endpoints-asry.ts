import { expect } from 'vitest';
import { expectError, fields, row, type Table } from '../table.ts';

const CALL = 'POST /api/asry/claim-from-deposit';

export const endpointsAsry: Table = {
  title: 'Endpoints > ASRY claim',
  key: [0, 1],
  rows: [
    row('POST | /api/asry/claim-from-deposit', async (contract) => {
      fields(CALL, '', {
        asset: 'string',
        senderPubkey: 'string | null',
        receive: 'object',
        reward: 'object',
      })(contract);
      expectError(await contract.ask(CALL, { body: {} }), 400, 'INVALID_INPUT');
      // The tour's claim has taken the whole reward of its deposit.
      const again = await contract.ask(CALL, { body: contract.sent(CALL) });
      expectError(again, 409);
      expect(again.body.action).toEqual(expect.any(String));
    }),
  ],
};

import { expect } from 'vitest';
import { field, type Table } from '../table.ts';

const CALL = 'POST /api/swap/create';

export const swapCreated: Table = {
  title: 'Resources and their fields > Swap (create response)',
  key: [0],
  rows: [
    field(CALL, 'initiated', 'boolean', { is: (initiated) => expect(initiated).toBe(true) }),
    field(CALL, 'id', 'string', {
      is: (id, { world }) => expect(world.solana.ledger.transaction(String(id))?.err).toBeNull(),
    }),
    field(CALL, 'amountSol', 'number', {
      is: (sol, contract) => expect(sol).toBe(contract.sent(CALL).amountSol),
    }),
    field(CALL, 'expectedBtcSats', 'integer'),
    field(CALL, 'solanaSignature', 'string', {
      is: (signature, contract) => expect(signature).toBe(contract.answer(CALL).id),
    }),
    field(CALL, 'status', 'string', { is: (status) => expect(status).toBe('waiting') }),
    field(CALL, 'statusUrl', 'string', {
      is: (url, contract) =>
        expect(url).toBe(`${contract.world.url}/api/swap/status/${contract.answer(CALL).id}`),
    }),
    field(CALL, 'message', 'string'),
  ],
};

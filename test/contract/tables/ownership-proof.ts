import { expect } from 'vitest';
import { field, type Table } from '../table.ts';

const CALL = 'GET /api/proof';

export const ownershipProof: Table = {
  title: 'Resources and their fields > Ownership proof (GET /api/proof response)',
  key: [0],
  rows: [
    field(CALL, 'message', 'string', {
      is: (message, contract) => expect(message).toContain(String(contract.answer(CALL).timestamp)),
    }),
    field(CALL, 'timestamp', 'string', {
      is: (timestamp) => expect(new Date(String(timestamp)).toISOString()).toBe(timestamp),
    }),
    field(CALL, 'bitcoin.address', 'string', {
      is: (address, { world }) => expect(address).toBe(world.reserve.bitcoin),
    }),
    field(CALL, 'bitcoin.signature', 'string'),
    field(CALL, 'solana.address', 'string', {
      is: (address, { world }) => expect(address).toBe(world.reserve.solana),
    }),
    field(CALL, 'solana.signature', 'string'),
  ],
};

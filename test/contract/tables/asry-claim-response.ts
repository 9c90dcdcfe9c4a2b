import { expect } from 'vitest';
import { field, type Table } from '../table.ts';

const CALL = 'POST /api/asry/claim-from-deposit';

export const asryClaimResponse: Table = {
  title: 'Resources and their fields > ASRY claim (2)',
  key: [0],
  rows: [
    field(CALL, 'asset', 'string', { is: (asset) => expect(['USDC', 'USDT']).toContain(asset) }),
    field(CALL, 'senderPubkey', 'string', {
      nullable: true,
      is: (sender, { world }) => expect(sender).toBe(world.users[0]?.address),
    }),
    field(CALL, 'feeBps', 'number', { is: (bps) => expect(bps).toBe(5) }),
    field(CALL, 'feeAtomic', 'string', { is: (atoms) => expect(atoms).toMatch(/^\d+$/) }),
    field(CALL, 'receive', 'object'),
    field(CALL, 'reward', 'object'),
  ],
};

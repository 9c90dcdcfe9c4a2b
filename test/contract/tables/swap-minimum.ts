import { expect } from 'vitest';
import { field, type Table } from '../table.ts';

const CALL = 'GET /api/swap/min';

export const swapMinimum: Table = {
  title: 'Resources and their fields > Swap minimum (GET /api/swap/min response)',
  key: [0],
  rows: [
    field(CALL, 'minAmountSol', 'number', { is: (sol) => expect(sol).toBeGreaterThanOrEqual(0.001) }),
    field(CALL, 'balanceSol', 'number', { nullable: true }),
  ],
};

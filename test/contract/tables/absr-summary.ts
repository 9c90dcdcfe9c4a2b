import { expect } from 'vitest';
import { field, type Table } from '../table.ts';

const CALL = 'GET /api/arbitrage/summary';

export const absrSummary: Table = {
  title: 'Resources and their fields > ABSR summary (GET /api/arbitrage/summary response)',
  key: [0],
  rows: [
    field(CALL, 'btcPriceUsd', 'number', { is: (usd) => expect(usd).toBe(80_000) }),
    field(CALL, 'solPriceUsd', 'number', { is: (usd) => expect(usd).toBe(100) }),
    field(CALL, 'absrSupplySats', 'integer', {
      is: (sats) => expect(sats).toBeGreaterThanOrEqual(1_000_000),
    }),
    field(CALL, 'absrSupplyUsd', 'number', {
      is(usd, contract) {
        const { absrSupplySats, btcPriceUsd } = contract.answer(CALL);
        expect(usd).toBeCloseTo((Number(absrSupplySats) * Number(btcPriceUsd)) / 1e8, 1);
      },
    }),
    field(CALL, 'absrTokenSupply', 'number'),
  ],
};

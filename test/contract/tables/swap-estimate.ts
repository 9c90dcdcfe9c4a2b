import { field, type Table } from '../table.ts';

const CALL = 'GET /api/swap/estimate';

export const swapEstimate: Table = {
  title: 'Resources and their fields > Swap estimate (GET /api/swap/estimate response)',
  key: [0],
  rows: [field(CALL, 'amountSol', 'number'), field(CALL, 'estimatedBtcSats', 'integer')],
};

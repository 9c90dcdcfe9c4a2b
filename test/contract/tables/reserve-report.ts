import { field, type Table } from '../table.ts';

const CALL = 'GET /api/reserves';

export const reserveReport: Table = {
  title: 'Resources and their fields > Reserve report (GET /api/reserves response)',
  key: [0],
  rows: [
    field(CALL, 'bitcoin.address', 'string', { nullable: true }),
    field(CALL, 'bitcoin.balanceBtc', 'number', { nullable: true }),
    field(CALL, 'bitcoin.balanceSat', 'integer', { nullable: true }),
    field(CALL, 'solana.address', 'string', { nullable: true }),
    field(CALL, 'solana.balanceSol', 'number', { nullable: true }),
  ],
};

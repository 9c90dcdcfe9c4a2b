import { expect } from 'vitest';
import type { Row, Table } from '../table.ts';

const row = (name: string, isRight: (value: unknown) => void): Row => ({
  row: name,
  async check(contract) {
    for (const call of [
      'GET /api/swap/estimate',
      'GET /api/swap/status/none',
      'POST /api/analytics/pageview',
    ])
      isRight((await contract.ask(call)).body[name]);
  },
});

export const errorBody: Table = {
  title: 'Resources and their fields > Error body',
  key: [0],
  rows: [
    row('error_code', (code) => expect(code).toMatch(/^[A-Z][A-Z0-9_]*$/)),
    row('error', (text) => expect(text).toMatch(/\S/)),
    row('action', (action) => expect(action).toMatch(/^[a-z_]+$/)),
  ],
};

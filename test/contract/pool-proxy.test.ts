import { expect } from 'vitest';
import { fields } from './shape.ts';
import { contractTable, errorBody, type Row, type Stage } from './stage.ts';

/** Where a default leads: the configured pool. */
const poolOf = async ({ call }: Stage): Promise<string> =>
  `GET ${(await call('GET /api/dex/pool-default')).headers.get('location')}`;

const redirect = (path: string): Row => ({
  row: `GET ${path}: 307`,
  request: `GET ${path}`,
  status: 307,
  also: ({ headers }) =>
    expect(headers.get('location')).toMatch(/^\/api\/dex\/pool\/[1-9A-HJ-NP-Za-km-z]{32,44}$/),
});

contractTable([
  redirect('/api/dex/pool-default'),
  redirect('/api/dex/pool-saeth-sausd-default'),
  redirect('/api/dex/pool-sausd-usdc-default'),
  {
    row: 'GET /api/dex/pool/{address}: the upstream JSON',
    request: poolOf,
    status: 200,
    shape: fields({ data: 'object' }),
  },
  {
    row: '400: an invalid address',
    request: 'GET /api/dex/pool/not-an-address',
    status: 400,
    shape: errorBody(),
  },
]);

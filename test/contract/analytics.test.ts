import { expect } from 'vitest';
import { fields, listOf } from './shape.ts';
import { contractTable, errorBody } from './stage.ts';

contractTable([
  {
    row: 'POST /api/analytics/pageview: 204 without a body',
    request: 'POST /api/analytics/pageview',
    body: { path: '/', referrer: '' },
    status: 204,
  },
  {
    row: '400: path is required',
    request: 'POST /api/analytics/pageview',
    body: { referrer: '' },
    status: 400,
    shape: errorBody(),
  },
  {
    row: "400: path starts with '/'",
    request: 'POST /api/analytics/pageview',
    body: { path: 'x' },
    status: 400,
    shape: errorBody(),
  },
  {
    row: 'GET /api/analytics/stats',
    request: 'GET /api/analytics/stats',
    status: 200,
    shape: fields({ totals: 'object', by_path: listOf('object'), recent: listOf('object') }),
    also: ({ headers }) => expect(headers.get('cache-control')).toBe('no-store'),
  },
]);

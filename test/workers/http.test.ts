import { exports } from 'cloudflare:workers';
import { expect, it } from 'vitest';

const call = (path: string, init?: RequestInit) => exports.default.fetch(`https://sluice.test${path}`, init);

it('an unknown path is a 404 with the error body', async () => {
  const response = await call('/api/nope', { headers: { 'x-request-id': 'abc-1' } });
  expect(response.status).toBe(404);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(await response.json()).toEqual({
    error_code: 'ROUTE_NOT_FOUND',
    error: 'No such path.',
    action: 'fix_request',
    request_id: 'abc-1',
    retryable: false,
  });
});

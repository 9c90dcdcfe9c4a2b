import { expect, it } from 'vitest';
import { apiDocument, operationsOf } from '../../scripts/documents/api-document.ts';
import { createApp, type Deps } from '../../src/app.ts';
import { ERRORS } from '../../src/core/errors.ts';

const deps = { log: () => undefined } as Partial<Deps> as Deps;
const app = createApp(() => deps);
const ENV = { LIMITER: { limit: async () => ({ success: true }) } };
const document = apiDocument(app, ERRORS, {}, '');

/** Every integer parameter of a query, and the other parameters that its route requires. */
const integers = operationsOf(document).flatMap(({ path, operation }) => {
  const parameters = (operation.parameters ?? []).flatMap((one) =>
    'in' in one && one.in === 'query' && one.schema && 'type' in one.schema
      ? [{ name: one.name, type: one.schema.type, required: one.required === true }]
      : [],
  );
  const needed = parameters.filter(({ required }) => required).map(({ name }) => [name, 'a'] as const);
  return parameters.flatMap(({ name, type }) => (type === 'integer' ? [[path, name, needed] as const] : []));
});

it('the test covers every route that takes an integer in its query', () => {
  expect(integers.map(([path, name]) => `${path}?${name}`)).toEqual(
    expect.arrayContaining([
      '/api/proof/history?limit',
      '/api/listings/search?limit',
      '/api/listings?token_id',
      '/api/nostr/feed?limit',
      '/api/nostr/feed?until',
      '/api/nostr/posts?limit',
    ]),
  );
});

it.each(integers)('rejects %s?%s= unless the value is plain decimal digits', async (path, name, needed) => {
  for (const text of [
    '0x1',
    '0b1',
    '0o1',
    '1e1',
    '1.0',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '1_0',
    '١',
    '1'.repeat(16),
  ]) {
    const query = new URLSearchParams([...needed, [name, text]]);
    const response = await app.request(`${path}?${query}`, {}, ENV);
    expect([text, response.status, await response.json()]).toEqual([
      text,
      400,
      expect.objectContaining({ error_code: 'INVALID_INPUT', action: 'fix_request' }),
    ]);
  }
});

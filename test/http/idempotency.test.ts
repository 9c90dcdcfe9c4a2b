import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { ExactNumber } from '../../src/core/json.ts';
import { requestFingerprint, requestKey } from '../../src/http/idempotency.ts';

async function keyOf(header: string | undefined) {
  const app = new Hono().post('/', (c) => c.json({ key: requestKey(c, 'r', {})?.keyHash ?? null }));
  app.onError((error, c) => c.text(error instanceof AppError ? error.code : 'other', 400));
  const response = await app.request('/', {
    method: 'POST',
    ...(header === undefined ? {} : { headers: { 'Idempotency-Key': header } }),
  });
  return response.status === 200 ? ((await response.json()) as { key: string | null }).key : response.text();
}

it.each(['a'.repeat(16), '~!'.repeat(64), '7c9e6679-7425-40de-944b-e07fc1f90ae7'])(
  'accepts %s as an idempotency key',
  async (key) => {
    expect(await keyOf(key)).toBe(requestFingerprint('r', key, {}).keyHash);
  },
);

it('a request without the header has no idempotency key', async () => {
  expect(await keyOf(undefined)).toBeNull();
});

it.each([
  ['empty', ''],
  ['15 characters', 'a'.repeat(15)],
  ['129 characters', 'a'.repeat(129)],
  ['with a space inside', 'aaaaaaaa aaaaaaaa'],
  ['with a tab inside', 'aaaaaaaa\taaaaaaaa'],
  ['with a letter that is not ASCII', `${'a'.repeat(16)}é`],
])('refuses an invalid idempotency key: %s', async (_name, key) => {
  expect(await keyOf(key)).toBe('INVALID_IDEMPOTENCY_KEY');
});

const KEY = '7C9e6679-7425-40de-944b-e07fc1f90ae7';

it('the key is stored as a SHA-256 of route and key, and its case matters', () => {
  const expected = createHash('sha256').update(`exchange/create\n${KEY}`).digest('hex');
  expect(requestFingerprint('exchange/create', KEY, {}).keyHash).toBe(expected);
});

it('treats the same key on two routes as two keys', () => {
  const [a, b] = ['exchange/create', 'swap/create'].map((route) => requestFingerprint(route, KEY, {}));
  expect(a?.keyHash).not.toBe(b?.keyHash);
  expect(a?.bodyHash).toBe(b?.bodyHash);
});

const bodyHash = (body: unknown) => requestFingerprint('r', KEY, body).bodyHash;

it.each([
  ['members in another order', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ['an absent member and an undefined one', { a: 1 }, { a: 1, b: undefined }],
  ['an exact number and its text', { a: new ExactNumber('0.10') }, { a: '0.10' }],
  ['a bigint and its text', { a: 2n ** 64n }, { a: '18446744073709551616' }],
])('hashes two bodies alike: %s', (_name, a, b) => {
  expect(bodyHash(a)).toBe(bodyHash(b));
});

it.each([
  ['another value', { a: 1 }, { a: 2 }],
  ['a number and its text', { a: 1 }, { a: '1' }],
  ['null and absent', { a: null }, {}],
  ['members swapped', { a: 'x', b: 'y' }, { a: 'y', b: 'x' }],
  ['arrays in another order', { a: [1, 2] }, { a: [2, 1] }],
  ['a member named __proto__', JSON.parse('{"__proto__":{"a":1}}'), {}],
])('hashes two bodies differently: %s', (_name, a, b) => {
  expect(bodyHash(a)).not.toBe(bodyHash(b));
});

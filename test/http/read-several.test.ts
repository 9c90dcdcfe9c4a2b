import { expect, it } from 'vitest';
import { readSeveral } from '../../src/http/read-several.ts';
import { routerOver } from '../kit/router.ts';

/** @param answer what the API responds to a path */
const readThrough = (answer: (path: string) => Response) =>
  routerOver(
    () => ({}),
    (app) =>
      app.get('/read', (c) => {
        Object.defineProperty(c, 'executionCtx', { value: undefined });
        const service = { fetch: async ({ url }: Request) => answer(new URL(url).pathname) };
        return readSeveral(service, (path) => path.startsWith('/api/'))(c);
      }),
  );

it.each([
  ['/api/new', 200, 'moved'],
  ['/secret', 307, ''],
  ['https://elsewhere.example/api/new', 307, ''],
])('a read that the API redirects to %s responds with %s', async (target, status, body) => {
  const request = readThrough((path) =>
    path === '/api/old'
      ? new Response('', { status: 307, headers: { Location: target } })
      : new Response('moved'),
  );
  expect(await (await request('/read?of=/api/old')).json()).toMatchObject([{ status, body }]);
});

it('several reads are refused if all their bodies together are too long for one response', async () => {
  const request = readThrough(() => new Response('x'.repeat(900_000)));
  const statusOf = async (reads: number) =>
    (await request(`/read?${'of=/api/nostr/feed&'.repeat(reads).slice(0, -1)}`)).status;
  expect([await statusOf(2), await statusOf(3)]).toEqual([200, 400]);
});

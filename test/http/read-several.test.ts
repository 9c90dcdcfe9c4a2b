import { expect, it } from 'vitest';
import { readSeveral } from '../../src/http/read-several.ts';
import { routerOver } from '../kit/router.ts';

it('several reads are refused if their bodies are together too long for one response', async () => {
  const service = { fetch: async () => new Response('x'.repeat(900_000)) };
  const request = routerOver(
    () => ({}),
    (app) =>
      app.get('/read', (c) => {
        Object.defineProperty(c, 'executionCtx', { value: undefined });
        return readSeveral(service, () => true)(c);
      }),
  );
  const statusOf = async (reads: number) =>
    (await request(`/read?${'of=/api/nostr/feed&'.repeat(reads).slice(0, -1)}`)).status;
  expect([await statusOf(2), await statusOf(3)]).toEqual([200, 400]);
});

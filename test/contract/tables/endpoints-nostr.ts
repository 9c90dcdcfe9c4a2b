import { expect } from 'vitest';
import type { Body } from '../../e2e/swap-caller.ts';
import { expectError, fields, row, type Table } from '../table.ts';
import type { Contract } from '../world.ts';

const FEED = 'GET /api/nostr/feed';
const POSTS = 'GET /api/nostr/posts';
const BAD_QUERIES = ['limit=0', 'limit=x', 'limit=1.5', 'until=-1', 'until=x'];

/** Each page holds what is older than the page before, down to the end. */
async function expectPages(contract: Contract, call: string): Promise<void> {
  const seen: number[] = [];
  let until: unknown;
  for (let pages = 0; pages < 50; pages += 1) {
    const { body } = await contract.ask(`${call}?limit=10${until === undefined ? '' : `&until=${until}`}`);
    const posts = body.posts as readonly Body[];
    seen.push(...posts.map((post) => Number(post.created_at)));
    if (body.next_until === null) break;
    until = body.next_until;
  }
  expect(seen.length).toBeGreaterThan(10);
  expect(seen).toEqual(seen.toSorted((a, b) => b - a));
}

export const endpointsNostr: Table = {
  title: 'Endpoints > Nostr feeds',
  key: [0, 1],
  rows: [
    row('GET | /api/nostr/feed', async (contract) => {
      fields(
        FEED,
        '',
        `
      ok: boolean, relays: array, posts: array, limit: integer, until: integer | null,
      next_until: integer | null, ai_only: boolean, topic_labels: array | null
    `,
      )(contract);
      expect(contract.answer(FEED)).toMatchObject({
        ...{ ok: true, limit: 10, until: null, ai_only: true, topic_labels: ['ai', 'blockchain', 'defi'] },
      });
      for (const yes of ['1', 'true', 'yes'])
        expect((await contract.ask(`${FEED}?ai_only=${yes}`)).body.ai_only).toBe(true);
      for (const no of ['0', 'false'])
        expect((await contract.ask(`${FEED}?ai_only=${no}`)).body).toMatchObject({
          ai_only: false,
          topic_labels: null,
        });
      for (const list of ['music,art', 'music%20art'])
        expect((await contract.ask(`${FEED}?topic_labels=${list}`)).body.topic_labels).toEqual([
          'music',
          'art',
        ]);
      for (const query of [...BAD_QUERIES, 'limit=101', 'ai_only=maybe'])
        expectError(await contract.ask(`${FEED}?${query}`), 400, 'INVALID_INPUT');
      await expectPages(contract, FEED);
    }),
    row('GET | /api/nostr/posts', async (contract) => {
      fields(
        POSTS,
        '',
        `
      ok: boolean, npub: string, pubkey: string, relays: array, posts: array, limit: integer,
      until: integer | null, next_until: integer | null
    `,
      )(contract);
      const { posts, pubkey, limit } = contract.answer(POSTS);
      expect(limit).toBe(100);
      for (const post of posts as readonly Body[]) expect([post.pubkey, post.kind]).toEqual([pubkey, 1111]);
      for (const query of [...BAD_QUERIES, 'limit=501'])
        expectError(await contract.ask(`${POSTS}?${query}`), 400, 'INVALID_INPUT');
    }),
  ],
};

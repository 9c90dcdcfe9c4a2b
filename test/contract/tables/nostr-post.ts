import { expect } from 'vitest';
import { field, type Table } from '../table.ts';

const CALL = 'GET /api/nostr/feed';
const isHex = (value: unknown): void => expect(value).toMatch(/^[0-9a-f]{64}$/);

export const nostrPost: Table = {
  title: 'Resources and their fields > Nostr post (entry of posts[])',
  key: [0],
  rows: [
    field(CALL, 'id', 'string', { at: 'posts[].id', is: isHex }),
    field(CALL, 'pubkey', 'string', { at: 'posts[].pubkey', is: isHex }),
    field(CALL, 'created_at', 'integer', {
      at: 'posts[].created_at',
      is: (seconds) => expect(Number(seconds)).toBeLessThan(Date.now() / 1_000 + 3_600),
    }),
    field(CALL, 'content', 'string', { at: 'posts[].content' }),
    field(CALL, 'kind', 'integer', { at: 'posts[].kind', is: (kind) => expect(kind).toBe(1111) }),
  ],
};

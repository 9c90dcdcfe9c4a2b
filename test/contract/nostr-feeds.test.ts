import { expect } from 'vitest';
import { fields, listOf, oneOf, orNull } from './shape.ts';
import { contractTable, errorBody } from './stage.ts';

const post = fields({
  id: 'string',
  pubkey: 'string',
  created_at: 'integer',
  content: 'string',
  kind: oneOf(1111),
});
const feed = fields({
  ok: oneOf(true),
  relays: listOf('string'),
  posts: listOf(post),
  limit: 'integer',
  until: orNull('integer'),
  next_until: orNull('integer'),
  ai_only: 'boolean',
  topic_labels: orNull(listOf('string')),
});

contractTable([
  {
    row: 'GET /api/nostr/feed: defaults',
    request: 'GET /api/nostr/feed',
    status: 200,
    shape: feed,
    also: ({ body }) => expect(body).toMatchObject({ limit: 10, ai_only: true, until: null }),
  },
  {
    row: 'feed: every parameter',
    request: 'GET /api/nostr/feed?limit=5&until=1900000000&ai_only=true&topic_labels=ai,defi',
    status: 200,
    shape: feed,
    also: ({ body }) => expect(body).toMatchObject({ limit: 5, topic_labels: ['ai', 'defi'] }),
  },
  ...['1', 'true', 'yes', '0', 'false'].map((value) => ({
    row: `feed: ai_only=${value}`,
    request: `GET /api/nostr/feed?ai_only=${value}`,
    status: 200,
    shape: feed,
  })),
  ...['limit=0', 'limit=101', 'limit=x', 'ai_only=maybe', 'until=-1'].map((query) => ({
    row: `feed limits: ${query}`,
    request: `GET /api/nostr/feed?${query}`,
    status: 400,
    shape: errorBody(),
  })),
  {
    row: 'GET /api/nostr/posts',
    request: 'GET /api/nostr/posts',
    status: 200,
    shape: fields({
      ok: oneOf(true),
      code: orNull('string'),
      error: orNull('string'),
      npub: orNull('string'),
      pubkey: orNull('string'),
      relays: listOf('string'),
      posts: listOf(post),
      limit: oneOf(100),
      until: orNull('integer'),
      next_until: orNull('integer'),
    }),
  },
  ...['limit=0', 'limit=501'].map((query) => ({
    row: `posts limits: ${query}`,
    request: `GET /api/nostr/posts?${query}`,
    status: 400,
    shape: errorBody(),
  })),
]);

import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { npubEncode } from 'nostr-tools/nip19';
import { AppError, ERRORS } from '../../core/errors.ts';
import { integerParam } from '../../http/params.ts';
import { limitReads } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { component, newRouter, type RouterEnv } from '../../http/router.ts';
import {
  endOfSecond,
  formatPosition,
  later,
  type Position,
  parsePosition,
  RelayStatus,
} from './feed-page.ts';
import { authorScope, DEFAULT_TOPICS, MAX_FEED_LIMIT, MAX_POSTS_LIMIT, topicScope } from './feeds.ts';
import type { FeedPage, FeedReader } from './read-feed.ts';

const MAX_LABELS = 20;
const MAX_LABEL_CHARS = 64;
/** End of the year 9999. */
const LAST_SECOND = 253_402_300_799;

export const limitParam = (maximum: number, fallback: number) =>
  integerParam(1, { maximum, description: 'Posts per page' })
    .optional()
    .transform((limit) => limit ?? fallback)
    .openapi({ default: fallback });

export const untilParam = integerParam(0, {
  maximum: LAST_SECOND,
  description: 'Unix seconds, exclusive; next_until of the previous page',
}).optional();

export const cursorParam = z
  .string()
  .transform((text, context) => {
    const position = parsePosition(text);
    if (position) return position;
    context.addIssue('must be the next_cursor of a page');
    return z.NEVER;
  })
  .optional()
  .openapi({
    type: 'string',
    pattern: '^\\d{1,12}\\.[0-9a-f]{64}$',
    description: 'next_cursor of the previous page; no post appears twice',
  });

export const aiOnlyParam = z
  .enum(['1', 'true', 'yes', '0', 'false'])
  .optional()
  .transform((text) => text !== '0' && text !== 'false')
  .openapi({ description: 'Only notes with one of the labels; default true', default: 'true' });

/** A blank string is an empty form field and selects the default list. */
export const topicLabelsParam = z
  .string()
  .optional()
  .transform((text, context) => {
    const labels = [...new Set((text ?? '').split(/[\s,]+/).filter(Boolean))];
    if (labels.length <= MAX_LABELS && labels.every((label) => label.length <= MAX_LABEL_CHARS))
      return labels.length > 0 ? labels : undefined;
    context.addIssue(`must be at most ${MAX_LABELS} labels of at most ${MAX_LABEL_CHARS} characters`);
    return z.NEVER;
  })
  .openapi({
    type: 'string',
    pattern: `^[\\s,]*([^\\s,]{1,${MAX_LABEL_CHARS}}([\\s,]+[^\\s,]{1,${MAX_LABEL_CHARS}}){0,${MAX_LABELS - 1}})?[\\s,]*$`,
    description:
      'Labels, separated by commas or spaces; a note must have one of them. Default: ai, blockchain, defi',
    example: 'ai,defi',
  });

const Post = component('NostrPost', {
  id: z.string(),
  pubkey: z.string(),
  created_at: z.int().describe('Unix seconds'),
  content: z.string().describe('Plain text from an untrusted author: escape it'),
  kind: z.int(),
  labels: z.array(z.string()).describe('Values of its `l` tags, of any namespace'),
  content_warning: z
    .string()
    .nullable()
    .describe('Reason to hide the note until the reader chooses to see it'),
  root: z
    .object({
      tag: z.enum(['I', 'E', 'A']),
      value: z.string(),
      kind: z.string().nullable(),
      url: z.string().nullable().describe('The root as an http(s) link, if it is one'),
    })
    .nullable()
    .describe("The thread's subject (NIP-22)"),
  nevent: z.string().describe('NIP-19 link with relay hints'),
});

const Page = component('NostrPage', {
  ok: z.boolean(),
  error: z.string().nullable(),
  error_code: z.string().optional(),
  action: z.string().optional(),
  retryable: z.boolean().optional(),
  request_id: z.string().optional(),
  relays: z.array(z.string()),
  posts: z.array(Post),
  limit: z.int(),
  until: z.int().nullable(),
  next_until: z
    .int()
    .nullable()
    .describe('Skips the remaining posts of a second with more posts than a page; next_cursor does not'),
  next_cursor: z.string().nullable(),
  relay_status: z.array(RelayStatus),
  as_of: z.iso.datetime().nullable(),
  stale: z.boolean(),
});

export const FeedBody = Page.extend({
  ai_only: z.boolean(),
  topic_labels: z.array(z.string()).nullable(),
}).openapi('NostrFeed');

export const PostsBody = Page.extend({
  code: z.string().nullable(),
  npub: z.string().nullable(),
  pubkey: z.string().nullable(),
}).openapi('NostrPosts');

export type NostrFeedDeps = {
  /** Undefined without a usable relay list. */
  feeds: FeedReader | undefined;
  /** Public key of the server identity in hex. */
  identity: string | undefined;
};

const CACHE_CONTROL = 'public, max-age=10, stale-while-revalidate=50';
const COMMON_ERRORS = errorResponses(['INVALID_INPUT', 'RATE_LIMITED', 'NOT_CONFIGURED']);

const feed = createRoute({
  method: 'get',
  path: '/nostr/feed',
  operationId: 'getNostrFeed',
  tags: ['nostr'],
  summary: 'Nostr feed',
  description: 'Comments (kind 1111) on a topic, newest first.',
  middleware: [limitReads] as const,
  request: {
    query: z.object({
      limit: limitParam(MAX_FEED_LIMIT, 10),
      until: untilParam,
      cursor: cursorParam,
      ai_only: aiOnlyParam,
      topic_labels: topicLabelsParam,
    }),
  },
  responses: {
    ...COMMON_ERRORS,
    200: jsonResponse(FeedBody, 'A page of the feed'),
    500: jsonResponse(FeedBody, 'No relay responded; ok is false'),
  },
});

const posts = createRoute({
  method: 'get',
  path: '/nostr/posts',
  operationId: 'getNostrPosts',
  tags: ['nostr'],
  summary: 'Posts of the service',
  description: 'Comments (kind 1111) by the server identity, newest first.',
  middleware: [limitReads] as const,
  request: {
    query: z.object({ limit: limitParam(MAX_POSTS_LIMIT, 100), until: untilParam, cursor: cursorParam }),
  },
  responses: {
    ...COMMON_ERRORS,
    200: jsonResponse(PostsBody, 'A page of posts, or ok false with code NO_IDENTITY'),
    500: jsonResponse(PostsBody, 'No relay responded; ok is false'),
  },
});

export const nostrFeedRoutes = newRouter<{ readonly nostr: NostrFeedDeps }>()
  .openapi(feed, async (c) => {
    const feeds = feedsOf(c);
    const { limit, until, cursor, ai_only, topic_labels } = c.req.valid('query');
    const topics = ai_only ? (topic_labels ?? DEFAULT_TOPICS) : null;
    const query = {
      relays: [...feeds.shownUrls],
      limit,
      until: until ?? null,
      ai_only,
      topic_labels: topics && [...topics],
    };
    const { page, failure } = await readPage(c, topicScope(topics), startOf(until, cursor), limit);
    return page
      ? c.json({ ok: true, error: null, ...query, ...page }, 200)
      : c.json({ ...query, ...failure }, 500);
  })
  .openapi(posts, async (c) => {
    const feeds = feedsOf(c);
    const { limit, until, cursor } = c.req.valid('query');
    const { identity } = c.var.deps.nostr;
    const query = {
      npub: identity === undefined ? null : npubEncode(identity),
      pubkey: identity ?? null,
      relays: [...feeds.shownUrls],
      limit,
      until: until ?? null,
    };
    if (identity === undefined) {
      const error = 'No server identity: set NOSTR_NPUB.';
      const nothing = { ...query, ...EMPTY, relay_status: [] };
      return c.json({ ok: false, code: 'NO_IDENTITY', error, ...nothing }, 200);
    }
    const { page, failure } = await readPage(c, authorScope(identity), startOf(until, cursor), limit);
    return page
      ? c.json({ ok: true, code: null, error: null, ...query, ...page }, 200)
      : c.json({ code: failure.error_code, ...query, ...failure }, 500);
  });

function feedsOf(c: Context<RouterEnv<{ readonly nostr: NostrFeedDeps }>>): FeedReader {
  const { feeds } = c.var.deps.nostr;
  if (feeds) return feeds;
  const details = { variables: ['NOSTR_RELAYS'] };
  throw new AppError('NOT_CONFIGURED', 'NOSTR_RELAYS is not a list of relay URLs.', { details });
}

/** Both can be given: `until` limits the feed, and the cursor is a position in it. */
const startOf = (until: number | undefined, cursor: Position | undefined): Position | undefined =>
  later(until === undefined ? undefined : endOfSecond(until), cursor);

const EMPTY = { posts: [], next_until: null, next_cursor: null, as_of: null, stale: false };

function shown({ posts, next, relays, asOf, stale }: FeedPage) {
  return {
    posts: [...posts],
    next_until: next?.createdAt ?? null,
    next_cursor: next && formatPosition(next),
    relay_status: [...relays],
    as_of: new Date(asOf).toISOString(),
    stale,
  };
}

/**
 * If no relay responds, the API contract requires the feed's own body with `ok: false`; the members of the error body are
 * added to it.
 */
async function readPage(
  c: Context<RouterEnv<{ readonly nostr: NostrFeedDeps }>>,
  ...query: Parameters<FeedReader['page']>
) {
  try {
    const page = await feedsOf(c).page(...query);
    if (!page.stale) c.header('Cache-Control', CACHE_CONTROL);
    return { page: shown(page) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'RELAYS_FAILED') throw error;
    c.set('errorCode', error.code);
    return { failure: failureOf(error, c.get('requestId')) };
  }
}

function failureOf(error: AppError, requestId: string) {
  const { action, retryable } = ERRORS.RELAYS_FAILED;
  const relay_status = (error.details?.relay_status ?? []) as FeedPage['relays'];
  return {
    ...EMPTY,
    ok: false,
    error: error.message,
    error_code: error.code,
    action,
    retryable,
    request_id: requestId,
    relay_status: [...relay_status],
  };
}

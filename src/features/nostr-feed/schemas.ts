import { z } from '@hono/zod-openapi';
import { integerParam } from '../../http/params.ts';
import { parsePosition } from './position.ts';

const MAX_LABELS = 20;
const MAX_LABEL_CHARS = 64;
/** End of the year 9999. */
const LAST_SECOND = 253_402_300_799;

export const limitParam = (maximum: number, fallback: number) =>
  integerParam(1, maximum)
    .optional()
    .transform((limit) => limit ?? fallback)
    .openapi({ type: 'integer', description: `Posts per page, 1 to ${maximum}`, default: fallback });

export const untilParam = integerParam(0, LAST_SECOND)
  .optional()
  .openapi({ type: 'integer', description: 'Unix seconds, exclusive; next_until of the previous page' });

export const cursorParam = z
  .string()
  .transform((text, context) => {
    const position = parsePosition(text);
    if (position) return position;
    context.addIssue('must be the next_cursor of a page');
    return z.NEVER;
  })
  .optional()
  .openapi({ type: 'string', description: 'next_cursor of the previous page; no post appears twice' });

export const aiOnlyParam = z
  .enum(['1', 'true', 'yes', '0', 'false'])
  .optional()
  .transform((text) => text !== '0' && text !== 'false')
  .openapi({ description: 'Only notes with one of the labels; default true', default: 'true' });

/** Blank text is an empty form field and selects the default list. */
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
    description:
      'Labels, separated by commas or spaces; a note must have one of them. Default: ai, blockchain, defi',
    example: 'ai,defi',
  });

const Post = z
  .object({
    id: z.string(),
    pubkey: z.string(),
    created_at: z.int().openapi({ description: 'Unix seconds' }),
    content: z.string().openapi({ description: 'Plain text from an untrusted author: escape it' }),
    kind: z.int(),
    labels: z.array(z.string()).openapi({ description: 'Topic labels of the note' }),
    content_warning: z
      .string()
      .nullable()
      .openapi({ description: 'Reason to hide the note until the reader chooses to see it' }),
    root: z
      .object({
        tag: z.enum(['I', 'E', 'A']),
        value: z.string(),
        kind: z.string().nullable(),
        url: z.string().nullable().openapi({ description: 'The root as an http(s) link, if it is one' }),
      })
      .nullable()
      .openapi({ description: "The thread's subject (NIP-22)" }),
    nevent: z.string().openapi({ description: 'NIP-19 link with relay hints' }),
  })
  .openapi('NostrPost');

const RelayStatus = z
  .object({
    relay: z.string(),
    ok: z.boolean().openapi({ description: 'The answer contains its posts without a gap' }),
    state: z.enum(['eose', 'closed', 'unreachable', 'lost', 'timeout', 'too_large', 'forged']),
    events: z.int(),
    partial: z.boolean().openapi({ description: 'It has posts that it did not send' }),
    rejected: z.int().openapi({ description: 'Rejected events: forged, malformed or not matching' }),
  })
  .openapi('RelayStatus');

const page = {
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
    .openapi({ description: 'May repeat posts of one second; next_cursor does not' }),
  next_cursor: z.string().nullable(),
  relay_status: z.array(RelayStatus),
  as_of: z.iso.datetime().nullable(),
  stale: z.boolean(),
};

export const FeedBody = z
  .object({ ...page, ai_only: z.boolean(), topic_labels: z.array(z.string()).nullable() })
  .openapi('NostrFeed');

export const PostsBody = z
  .object({
    ...page,
    code: z.string().nullable(),
    npub: z.string().nullable(),
    pubkey: z.string().nullable(),
  })
  .openapi('NostrPosts');

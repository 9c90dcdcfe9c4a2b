/**
 * The answers of the routes, for the API document and for the types of their handlers. The Worker validates no
 * answer, so wrangler.toml replaces this module by empty functions, and no answer's schema or text is deployed.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { ERRORS, type ErrorCode } from '../core/errors.ts';
import { component } from './router.ts';

/** A schema or a part of one that several answers share. */
export function lazily<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}

/** A JSON answer of a route. */
export function jsonResponse<S extends z.ZodType>(schema: () => S, description: string) {
  const content = lazily(() => ({ 'application/json': { schema: schema() } }));
  return {
    description,
    get content() {
      return content();
    },
  };
}

/** A list in both forms. Its type is that of the JSON form, which typed clients request. */
export function listResponse<S extends z.ZodType>(schema: () => S, description: string) {
  const json = jsonResponse(schema, description);
  return {
    description,
    get content(): typeof json.content {
      return { ...json.content, 'text/csv': { schema: z.string() } } as typeof json.content;
    },
  };
}

export const nextCursor = lazily(() =>
  z.string().nullable().describe('cursor of the next page; null after the last one'),
);

/**
 * The error answers of a route, grouped by status, with exactly the codes that it can send.
 * @param statuses of codes that this route sends with a different status than usual
 */
export function errorResponses(
  codes: readonly ErrorCode[],
  statuses: Readonly<Partial<Record<ErrorCode, number>>> = {},
) {
  const byStatus = Map.groupBy(codes, (code) => statuses[code] ?? ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, sent]) => [
      status,
      { description: sent.join(', '), content: { 'application/json': { schema: problemSchema(sent) } } },
    ]),
  );
}

export const Problem = lazily(() =>
  component('Problem', {
    error_code: z.string().describe('Stable machine-readable code'),
    error: z.string().describe('What happened, for display'),
    action: z.string().optional().describe('What to do next'),
    request_id: z.string().describe('Same as the X-Request-Id header'),
    retryable: z.boolean().describe('Whether the same request can succeed later'),
    retry_after_s: z.int().optional().describe('Seconds to wait, same as Retry-After'),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("The details described by the code's meaning"),
  }),
);

/** As JSON Schema: it validates nothing, and every isolate would have to create a hundred zod schemas. */
export const problemSchema = (codes: readonly string[]) => ({
  allOf: [
    { $ref: '#/components/schemas/Problem' },
    { type: 'object' as const, properties: { error_code: { type: 'string' as const, enum: [...codes] } } },
  ],
});

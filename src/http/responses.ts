/**
 * The responses of a route in its definition, for the API document and for the type of its handler. Responses are
 * not validated at run time.
 * @module
 */
import { z } from '@hono/zod-openapi';
import type { Context, TypedResponse } from 'hono';
import type { JSONParsed } from 'hono/utils/types';
import { ERRORS, type ErrorCode } from '../core/errors.ts';
import type { Body } from './cached.ts';
import { component } from './router.ts';

export const jsonResponse = <S extends z.ZodType>(schema: S, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

/** The response whose body and ETag the cache keeps, with the type of a response of `c.json`. */
export function cachedJson<T>({ body }: Pick<Context, 'body'>, { text, etag }: Body<T>) {
  const response: Response = body(text, 200, { 'Content-Type': 'application/json', ETag: etag });
  return response as Response & TypedResponse<JSONParsed<T>, 200, 'json'>;
}

/** Headers of a response that must not be stored; it has no ETag. */
export const NO_STORE = { 'Cache-Control': { schema: { type: 'string' as const, enum: ['no-store'] } } };

/** A list, as JSON or as CSV. */
export const listResponse = <S extends z.ZodType>(schema: S, description: string) => ({
  description,
  content: { 'application/json': { schema }, 'text/csv': { schema: z.string() } },
});

export const atomsText = (description: string, example: string) =>
  z.string().openapi({ description, example });

export const nextCursor = z.string().nullable().describe('null on the last page');

/** Name of the error schema of a route. It lists the codes; the schema of the codes has their meanings. */
export const ERROR_RESPONSE = 'Error';

/**
 * The error responses of a route, grouped by status, with exactly the codes that it can send.
 * @param statuses of codes that this route sends with a different status than usual
 * @param also schemas of members that this route adds to an error
 */
export function errorResponses(
  codes: readonly ErrorCode[],
  statuses: Readonly<Partial<Record<ErrorCode, number>>> = {},
  also: Readonly<Record<string, object>> = {},
) {
  const byStatus = Map.groupBy(codes, (code) => statuses[code] ?? ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, sent]) => [
      status,
      { description: ERROR_RESPONSE, content: { 'application/json': { schema: problemSchema(sent, also) } } },
    ]),
  );
}

export const Problem = component('Problem', {
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
});

/** The error body as plain JSON Schema, because no code validates with it. */
export const problemSchema = (codes: readonly string[], also: Readonly<Record<string, object>> = {}) => ({
  allOf: [
    { $ref: '#/components/schemas/Problem' },
    {
      type: 'object' as const,
      properties: { error_code: { type: 'string' as const, enum: [...codes] }, ...also },
    },
  ],
});

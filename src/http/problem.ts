/**
 * The error body: one shape for every failure, and the only place that turns a failure into a response.
 * @module
 */
import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { AppError, databaseUnavailable, ERRORS } from '../core/errors.ts';
import type { Problem } from './responses.ts';

const INTERNAL = new AppError('INTERNAL', 'Something unexpected happened. Report the request_id.');

/**
 * D1 marks its errors only in their message. An error with an SQLite code means a faulty statement, except for a
 * missing table: then the migrations were not applied to this database.
 */
const isDatabaseDown = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  /^D1_ERROR|\bD1 DB\b/.test(thrown.message) &&
  (!/SQLITE_/.test(thrown.message) || /\bno such table\b/.test(thrown.message));

/** The error that a caller sees for a thrown value. Expected failures stay unchanged; all others become INTERNAL. */
export function asAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseDown(thrown)) return databaseUnavailable('The database does not respond.', thrown);
  return INTERNAL;
}

/**
 * Characters that control a terminal or the direction of text. They are removed, because refusals repeat the caller's
 * input.
 */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A string, or every string within a value, without control characters. */
function withoutControls(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(CONTROLS, '\ufffd');
  if (Array.isArray(value)) return value.map(withoutControls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [String(withoutControls(name)), withoutControls(member)]),
  );
}

/** The members of an error body that do not depend on the request. */
export function problemOf(error: AppError) {
  const { action, retryable } = ERRORS[error.code] ?? ERRORS.INTERNAL;
  return {
    error_code: error.code,
    error: String(withoutControls(error.message)),
    action: error.action ?? action,
    retryable,
    ...(error.retryAfterSeconds === undefined ? {} : { retry_after_s: error.retryAfterSeconds }),
    ...(error.details ? { details: withoutControls(error.details) as typeof error.details } : {}),
  };
}

/** @param also members that the route adds to the body */
export function problemResponse(
  c: Context,
  error: AppError,
  also: Readonly<Record<string, unknown>> = {},
): Response {
  const entry = ERRORS[error.code] ?? ERRORS.INTERNAL;
  const { error_code, error: text, action, ...rest } = problemOf(error);
  const problem: z.infer<typeof Problem> = {
    error_code,
    error: text,
    action,
    request_id: c.get('requestId'),
    ...rest,
  };
  const body = { ...problem, ...also };
  if (error.retryAfterSeconds !== undefined) c.header('Retry-After', String(error.retryAfterSeconds));
  c.header('Cache-Control', 'no-store');
  c.set('errorCode', error.code);
  return c.json(body, (error.status ?? entry.status) as ContentfulStatusCode);
}

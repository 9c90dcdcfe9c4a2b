/**
 * Calls of the HTTP API. Whatever goes wrong on the way leaves as a ToolFailure; an answer that is no JSON object counts
 * as none.
 * @module
 */
import * as z from 'zod';
import { type Failure, nextStep, ToolFailure } from './failure.ts';

export type ApiRequest = {
  readonly method: 'GET' | 'POST';
  /** Below the origin, with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

export type ApiAnswer = { readonly body: Readonly<Record<string, unknown>>; readonly replayed: boolean };

export type Api = { call(request: ApiRequest): Promise<ApiAnswer> };

/** A creation may wait 25 s for its outcome; a host waits for a tool for about 60 s. */
const TIMEOUT_MS = 45_000;
/** Far more than any answer here. */
const MAX_CHARS = 1_000_000;

const Problem = z.looseObject({
  error_code: z.string(),
  error: z.string(),
  action: z.string().default('report_request_id'),
  retryable: z.boolean().default(false),
  retry_after_s: z.number().optional(),
  request_id: z.string().optional(),
  details: z.unknown().optional(),
});
const Body = z.record(z.string(), z.unknown());

/** @param origin scheme, host and port of the service */
export function createApi({ origin, fetch }: { origin: string; fetch: typeof globalThis.fetch }): Api {
  function unreachable(reason: string): ToolFailure {
    return new ToolFailure({
      error_code: 'API_UNREACHABLE',
      error: `The service at ${origin} ${reason}.`,
      action: 'retry_later',
      next_step: `Check that the service runs and that API_BASE_URL (now ${origin}) is its origin, then make the same call.`,
      retryable: true,
    });
  }

  return {
    async call({ method, path, body, idempotencyKey, signal }) {
      const late = AbortSignal.timeout(TIMEOUT_MS);
      let response: Response;
      let text: string;
      try {
        response = await fetch(`${origin}${path}`, {
          method,
          redirect: 'manual',
          signal: signal ? AbortSignal.any([signal, late]) : late,
          headers: {
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        text = await response.text();
      } catch {
        throw unreachable(
          late.aborted ? `did not answer within ${TIMEOUT_MS / 1000} s` : 'cannot be reached',
        );
      }
      const parsed = Body.safeParse(parse(text));
      if (parsed.success && response.ok)
        return { body: parsed.data, replayed: response.headers.get('idempotency-replayed') === 'true' };
      const problem = Problem.safeParse(parsed.data);
      if (problem.success) throw new ToolFailure(failureOf(problem.data));
      throw unreachable(`answered status ${response.status} without JSON of this API`);
    },
  };
}

function failureOf(problem: z.output<typeof Problem>): Failure {
  const { error_code, error, action, retryable, retry_after_s, request_id, details } = problem;
  return {
    error_code,
    error,
    action,
    next_step: nextStep(action),
    retryable,
    ...(retry_after_s === undefined ? {} : { retry_after_s }),
    ...(request_id === undefined ? {} : { request_id }),
    ...(details === undefined ? {} : { details }),
  };
}

function parse(text: string): unknown {
  if (text.length > MAX_CHARS) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

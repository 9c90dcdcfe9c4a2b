/**
 * Calls of the HTTP API. Every failure on the way is a ToolFailure; a body that is not a JSON object counts as no answer.
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

export type ApiAnswer = {
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  readonly replayed: boolean;
};

export type Api = {
  /** @throws ToolFailure */
  call(request: ApiRequest): Promise<ApiAnswer>;
  /** The body of a document as it is. @throws ToolFailure */
  text(path: string, signal?: AbortSignal): Promise<string>;
};

export type ApiOptions = {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly fetch: typeof globalThis.fetch;
  /** Sent with every request, such as the address of the client that this call serves. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What to do when the service does not answer. */
  readonly unreachableRepair: string;
};

/** A creation may wait 25 s for its outcome; a host waits about 60 s for a tool. */
const TIMEOUT_MS = 45_000;
/** Far more than any answer here. */
const MAX_CHARS = 1_000_000;
const MAX_REASON_CHARS = 200;
/** Only these routes pass on an error of their upstream with its body. */
const POOLS = '/api/dex/';

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

export function createApi({ origin, fetch, headers = {}, unreachableRepair }: ApiOptions): Api {
  const unreachable = (reason: string): ToolFailure =>
    new ToolFailure({
      error_code: 'API_UNREACHABLE',
      error: `The service at ${origin} ${reason}.`,
      action: 'retry_later',
      next_step: unreachableRepair,
      retryable: true,
    });

  async function send({ method, path, body, idempotencyKey, signal }: ApiRequest) {
    const late = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const response = await fetch(`${origin}${path}`, {
        method,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, late]) : late,
        headers: {
          ...headers,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { response, text: await response.text() };
    } catch {
      throw unreachable(late.aborted ? `did not answer within ${TIMEOUT_MS / 1000} s` : 'cannot be reached');
    }
  }

  function failed(path: string, response: Response, parsed: unknown): ToolFailure {
    const problem = Problem.safeParse(parsed);
    if (problem.success) return new ToolFailure(failureOf(problem.data));
    const object = Body.safeParse(parsed);
    return object.success && response.status >= 400 && path.startsWith(POOLS)
      ? passedOn(response, object.data)
      : unreachable(`answered status ${response.status} without JSON of this API`);
  }

  return {
    async call(request) {
      let { response, text } = await send(request);
      const target = response.headers.get('location');
      // The API redirects only to paths of its own.
      if (response.status === 307 && target?.startsWith('/api/'))
        ({ response, text } = await send({ ...request, path: target }));
      const parsed = parse(text);
      const body = Body.safeParse(parsed);
      if (!body.success || !response.ok) throw failed(request.path, response, parsed);
      const replayed = response.headers.get('idempotency-replayed') === 'true';
      return { body: body.data, headers: response.headers, replayed };
    },
    async text(path, signal) {
      const { response, text } = await send({ method: 'GET', path, ...(signal && { signal }) });
      if (!response.ok || text.length > MAX_CHARS) throw failed(path, response, parse(text));
      return text;
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

/** An error of the pool API, which the service passes on with the upstream's own body. */
function passedOn(response: Response, body: Readonly<Record<string, unknown>>): ToolFailure {
  const { status } = response;
  const text = [body.error, body.message].find((part) => typeof part === 'string');
  const reason = typeof text === 'string' ? `: ${text.slice(0, MAX_REASON_CHARS)}` : '';
  const retryable = status === 429 || status >= 500;
  const action = retryable ? 'retry_later' : status === 404 ? 'check_id' : 'fix_request';
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ToolFailure({
    error_code: 'UPSTREAM_REFUSED',
    error: `The upstream of this answer replied with status ${status}${reason}.`,
    action,
    next_step: nextStep(action),
    retryable,
    ...(Number.isFinite(wait) ? { retry_after_s: wait } : {}),
  });
}

function parse(text: string): unknown {
  if (text.length > MAX_CHARS) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

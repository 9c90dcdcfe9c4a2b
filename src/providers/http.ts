/**
 * Requests to upstreams: bounded in time and size, without redirects, with one retry of idempotent reads.
 * Network, status, timeout and shape failures are UPSTREAM_FAILED. An error never contains the URL, which may
 * include a key.
 * @module
 */
import type { ZodType } from 'zod';
import { AppError, upstreamFailed, upstreamLimited } from '../core/errors.ts';
import { parseUpstreamJson } from '../core/json.ts';
import type { Admission } from './admission.ts';
import { completeRows, stringShortener } from './large-list.ts';

/** Maximum upstream response in bytes, and the maximum wait for it, including the body, in milliseconds. */
const MAX_UPSTREAM_BYTES = 2 * 1024 * 1024;
/** Maximum bytes that are read of a body whose strings are shortened. */
const MAX_SHORTENED_BYTES = 16 * MAX_UPSTREAM_BYTES;
const UPSTREAM_TIMEOUT_MS = 8_000;

/** The only network access of a provider. */
export type Fetch = {
  (url: string, init?: RequestInit): Promise<Response>;
  /** Limits concurrent calls; if absent, every call starts at once. */
  readonly admission?: Admission;
};

export type UpstreamResponse = { readonly status: number; readonly headers: Headers; readonly text: string };

type Ask = {
  readonly fetch: Fetch;
  /** Name for errors and logs, never a URL. */
  readonly upstream: string;
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** Shortens long strings of JSON, and returns the first rows of a list that is too large. */
  readonly shortens?: boolean;
};

/**
 * The HTTP response as text, with any status. The time limit starts when the call is admitted.
 * @throws AppError UPSTREAM_FAILED if it is late or too large; `busy` or `circuit_open` if it was not sent
 */
export async function ask(asked: Ask): Promise<UpstreamResponse> {
  const { upstream } = asked;
  const endCall = await asked.fetch.admission?.admit(upstream, asked.url);
  const signal = AbortSignal.timeout(asked.timeoutMs ?? UPSTREAM_TIMEOUT_MS);
  const init: RequestInit = {
    method: asked.method ?? 'GET',
    redirect: 'manual',
    signal,
    headers: {
      accept: 'application/json',
      'user-agent': 'sluice',
      ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...asked.headers,
    },
    ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
  };
  try {
    const response = await asked.fetch(asked.url, init);
    const text = await readCapped(response, asked, signal);
    return { status: response.status, headers: response.headers, text };
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw upstreamFailed(upstream, signal.aborted ? 'timeout' : 'unreachable', cause);
  } finally {
    endCall?.(signal.aborted);
  }
}

async function readCapped(
  response: Response,
  { upstream, shortens }: Ask,
  signal: AbortSignal,
): Promise<string> {
  if (!response.body) return '';
  const reader = response.body.getReader();
  // Some runtimes stop the abort signal once the headers have arrived, so a slow body is cancelled here.
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', stop);
  const decoder = new TextDecoder();
  const shorten = shortens ? stringShortener() : undefined;
  let text = '';
  let size = 0;
  let received = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) throw upstreamFailed(upstream, 'timeout');
      if (done) return text + decoder.decode();
      const kept = shorten?.(value) ?? value;
      text += decoder.decode(kept.subarray(0, MAX_UPSTREAM_BYTES - size), { stream: true });
      received += value.byteLength;
      size += kept.byteLength;
      if (size > MAX_UPSTREAM_BYTES || received > MAX_SHORTENED_BYTES) {
        stop();
        const rows = shorten && completeRows(text);
        if (rows !== undefined) return rows;
        throw upstreamFailed(upstream, 'too_large');
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The body of a response in the documented shape. @throws AppError UPSTREAM_FAILED on anything else. */
export function shaped<T>(upstream: string, answer: UpstreamResponse, schema: ZodType<T>): T {
  if (answer.status === 429) throw upstreamLimited(upstream, answer.headers.get('retry-after'));
  if (answer.status < 200 || answer.status > 299) throw upstreamFailed(upstream, `status_${answer.status}`);
  let body: unknown;
  try {
    body = parseUpstreamJson(answer.text);
  } catch (cause) {
    throw upstreamFailed(upstream, 'not_json', cause);
  }
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw upstreamFailed(upstream, 'unexpected_shape', parsed.error);
  return parsed.data;
}

/** One read of JSON, retried once after a transient failure. */
export async function getJson<T>(asked: Ask, schema: ZodType<T>): Promise<T> {
  const started = Date.now();
  try {
    return shaped(asked.upstream, await ask(asked), schema);
  } catch (error) {
    // There is no retry after a slow failure, because the caller is waiting, or after a rate limit, which the retry
    // would hit again.
    const reason = error instanceof AppError ? error.details?.reason : undefined;
    const passing = reason === 'unreachable' || reason === 'not_json' || /^status_5/.test(String(reason));
    if (!passing || Date.now() - started > 1_000) throw error;
    return shaped(asked.upstream, await ask(asked), schema);
  }
}

/** One POST that returns JSON. It is not retried, because the first request may have taken effect. */
export async function postJson<T>(asked: Omit<Ask, 'method'>, schema: ZodType<T>): Promise<T> {
  return shaped(asked.upstream, await ask({ ...asked, method: 'POST' }), schema);
}

/** The next source starts if the previous one has not responded within this time (hedged read). */
const PATIENCE_MS = 1_500;

/**
 * The first response of several equivalent sources. Each source starts once the previous one has failed or is slow.
 * Use it for reads only, because a slow source is not cancelled.
 * @throws the first source's error if all fail; undefined if there is no source
 */
export async function hedged<S, T>(sources: readonly S[], read: (source: S) => Promise<T>): Promise<T> {
  const asked: Promise<T>[] = [];
  for (const source of sources) {
    asked.push(read(source));
    const answer = await withPatience(Promise.any(asked));
    if (answer) return answer.value;
  }
  return Promise.any(asked).catch((all: AggregateError) => {
    throw all.errors[0];
  });
}

/** The response of one source; undefined if it fails or does not arrive within `PATIENCE_MS`. */
function withPatience<T>(answer: Promise<T>): Promise<{ value: T } | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slow = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  const given = answer.then(
    (value) => ({ value }),
    () => undefined,
  );
  return Promise.race([given, slow]).finally(() => clearTimeout(timer));
}

/** The result of a call, which itself continues after its time. @throws AppError UPSTREAM_FAILED `timeout` */
export async function inTime<T>(
  call: Promise<T>,
  ms: number,
  upstream: string,
  within: <R>(work: Promise<R>, ms: number) => Promise<R | undefined>,
): Promise<T> {
  const ended = await within(
    call.then((value) => ({ value })),
    ms,
  );
  if (!ended) throw upstreamFailed(upstream, 'timeout');
  return ended.value;
}

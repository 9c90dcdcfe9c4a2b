/**
 * One call: its request, its repeats, and its outcome as a value.
 * @module
 */
import { type Body, canonical } from './canonical.ts';
import { type KeyStore, releaseKey, takeKey } from './keys.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS, type Problem } from './operations.ts';

export type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
type TypesOf<Name extends OperationName> = NonNullable<Operations[Name]['types']>;
export type Input<Name extends OperationName> = TypesOf<Name>['input'];
export type Answer<Name extends OperationName> = TypesOf<Name>['value'];

/** The API refused or failed. The codes are those that the document declares; a newer service may have more. */
type Refused<Code extends string> = Code extends string
  ? { readonly kind: 'refused'; readonly status: number; readonly error_code: Code } & Omit<
      Problem,
      'error_code'
    >
  : never;

export type Failure<Name extends OperationName = OperationName> =
  | Refused<TypesOf<Name>['code']>
  /** An upstream's own error, which the pool routes pass on. */
  | { readonly kind: 'upstream'; readonly status: number; readonly body: Body }
  /** No complete response. `aborted`: by the caller's signal. */
  | { readonly kind: 'unreachable'; readonly reason: 'network' | 'timeout' | 'aborted' }
  /** A response that is not from this API, such as a proxy's error page. */
  | { readonly kind: 'unreadable'; readonly status: number }
  /** The call cannot be written as a request, and nothing was sent; or a function of the caller threw. */
  | { readonly kind: 'invalid'; readonly cause: unknown };

/** @typeParam More failures that only this call has */
export type Result<Name extends OperationName, Value = Answer<Name>, More = never> =
  | {
      readonly ok: true;
      readonly value: Value;
      readonly headers: Headers;
      /** True when this is the stored response to an earlier call with the same key. */
      readonly replayed: boolean;
      /** The key that was sent. */
      readonly idempotencyKey?: string;
    }
  | {
      readonly ok: false;
      readonly failure: Failure<Name> | More;
      /** Null without a response. */
      readonly headers: Headers | null;
      /** Present while the outcome of a creation is unknown: the next call with the same input sends this key again. */
      readonly idempotencyKey?: string;
    };

export type CallOptions = {
  readonly signal?: AbortSignal;
  /** Milliseconds until the call ends, with its repeats. Replaces that of the client. */
  readonly timeoutMs?: number;
  /** Replaces that of the client. */
  readonly retries?: number;
  /**
   * Seconds that the service may wait for a change before it responds, at most 55. Ignored by operations that
   * do not wait.
   */
  readonly wait?: number;
  /**
   * Requests figures that include the last operation, bypassing every cache. For a caller that has just seen
   * an operation end.
   */
  readonly fresh?: boolean;
  /** Replaces the key that the client would make, 16 to 128 visible ASCII characters. */
  readonly idempotencyKey?: string;
};

export type ClientOptions = {
  /** Origin of the service. Empty for the origin of the page. */
  readonly baseUrl: string;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Keys whose outcome is unknown. Default: in memory. A `Map` works, and so does a wrapper of `sessionStorage`. */
  readonly keys?: KeyStore;
  /** Milliseconds until a call ends, with its repeats. Default: 45,000, and more for a call that waits. */
  readonly timeoutMs?: number;
  /** Repeats, after a temporary failure, of a call that cannot move money twice. Default: 2. */
  readonly retries?: number;
};

/** Never throws. */
export type Call = <Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options?: CallOptions,
) => Promise<Result<Name>>;

const DEFAULT_TIMEOUT_MS = 45_000;
const DEFAULT_RETRIES = 2;
const FIRST_PAUSE_MS = 300;
/** Additional time for a call that waits, for the network. */
const WAIT_MARGIN_MS = 15_000;
/** Far more than any response. */
const MAX_CHARS = 2_000_000;
const KEY = /^[\x21-\x7e]{16,128}$/;
/** Only these routes pass on an error of their upstream with its body. */
const POOLS = '/api/dex/';

type Spec = Operation<unknown, unknown, string>;
type Session = Required<ClientOptions> & {
  /** Bookmark of the last response that changed the database: later reads then see the change, even from a replica. */
  bookmark: string | null;
};
type Request = {
  readonly url: string;
  readonly init: RequestInit;
  readonly spec: Spec;
  /** Present only for a creation that spends. */
  readonly key: string | undefined;
  /** Whether a repeat cannot move money twice. */
  readonly isSafe: boolean;
};

/** Only `call`, for a page with its own waiting and its own store of keys. */
export function createCall({
  baseUrl,
  fetch: send = (url, init) => fetch(url, init),
  headers = {},
  keys,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  retries = DEFAULT_RETRIES,
}: ClientOptions & { readonly keys: KeyStore }): Call {
  const session: Session = { baseUrl, fetch: send, headers, keys, timeoutMs, retries, bookmark: null };
  return async (name, input, options = {}) => {
    try {
      return await callWithKey(session, name, input, options);
    } catch (cause) {
      return { ok: false, failure: { kind: 'invalid', cause }, headers: null };
    }
  };
}

/** @throws when the call cannot be written as a request, or the store of keys fails */
async function callWithKey<Name extends OperationName>(
  session: Session,
  name: Name,
  input: Input<Name>,
  options: CallOptions,
): Promise<Result<Name>> {
  if (!Object.hasOwn(OPERATIONS, name)) throw new TypeError(`unknown operation: ${name}`);
  const spec: Spec = OPERATIONS[name];
  const body = canonical(input, spec.amounts);
  // A validation creates nothing, so it needs no key.
  const isOnce = spec.once !== undefined && body.skipReward !== true;
  const memo = `${name}\n${JSON.stringify(body)}`;
  const { idempotencyKey: given } = options;
  if (given !== undefined && !KEY.test(given))
    throw new TypeError('idempotencyKey must be 16 to 128 visible ASCII characters');
  const key = isOnce ? takeKey(session.keys, memo, given) : undefined;
  const result = await sendSafely<Name>(session, requestOf(session, spec, body, key, options), options);
  if (key === undefined) return result;
  // The caller of an aborted call does not learn the outcome.
  const isLost = result.ok ? options.signal?.aborted : isOutcomeUnknown(result.failure);
  if (!isLost) releaseKey(session.keys, memo, key);
  return result.ok || isLost ? { ...result, idempotencyKey: key } : result;
}

function requestOf(
  { baseUrl, headers, bookmark }: Session,
  spec: Spec,
  input: Body,
  key: string | undefined,
  { wait, fresh }: CallOptions,
): Request {
  const isPost = spec.method === 'POST';
  const { path, rest } = fillPath(spec.path, input);
  return {
    url: `${baseUrl}${path}${isPost ? '' : queryOf(rest)}`,
    init: {
      method: spec.method,
      headers: new Headers({
        ...headers,
        accept: spec.text ? 'text/*' : 'application/json',
        ...(isPost && { 'content-type': 'application/json' }),
        ...(spec.waits && wait !== undefined && { prefer: `wait=${wait}` }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(bookmark !== null && { 'x-data-bookmark': bookmark }),
      }),
      ...(isPost && { body: JSON.stringify(rest) }),
      ...(fresh && { cache: 'no-cache' }),
    },
    spec,
    key,
    isSafe: !isPost || spec.once !== undefined || spec.confirms === true,
  };
}

/** Repeats a request that cannot move money twice, until its limit. */
async function sendSafely<Name extends OperationName>(
  session: Session,
  request: Request,
  { signal, timeoutMs, wait = 0, retries = session.retries }: CallOptions,
): Promise<Result<Name>> {
  const limitMs =
    timeoutMs ?? Math.max(session.timeoutMs, request.spec.waits ? wait * 1_000 + WAIT_MARGIN_MS : 0);
  const endsAt = Date.now() + limitMs;
  const { end, isEnded } = limited(limitMs, signal);
  for (let failures = 1; ; failures += 1) {
    const result = await send<Name>(session, request, end);
    if (result.ok || failures > retries || !request.isSafe || !canPass(result.failure)) return result;
    const pauseMs = backOffMs(result.failure, failures, FIRST_PAUSE_MS);
    if (Date.now() + pauseMs >= endsAt) return result;
    await sleep(pauseMs, end);
    if (isEnded()) return result;
  }
}

/** A signal that ends with the caller's, or after a time. @param limitMs may be infinite */
export function limited(
  limitMs: number,
  signal: AbortSignal | undefined,
): { readonly end: AbortSignal; readonly isEnded: () => boolean } {
  const late = Number.isFinite(limitMs) ? AbortSignal.timeout(limitMs) : undefined;
  const limits = [signal, late].filter((limit) => limit !== undefined);
  // `any` holds its signals weakly. The closure refers to them, so that they are not garbage-collected.
  return { end: AbortSignal.any(limits), isEnded: () => limits.some(({ aborted }) => aborted) };
}

async function send<Name extends OperationName>(
  session: Session,
  { url, init, spec, key }: Request,
  end: AbortSignal,
): Promise<Result<Name>> {
  try {
    const response = await session.fetch(url, { ...init, signal: end });
    const { headers } = response;
    session.bookmark = headers.get('x-data-bookmark') ?? session.bookmark;
    const read = readResponse<Name>(spec, key, response, await response.text());
    if (!('value' in read)) return { ok: false, failure: read, headers };
    return { ok: true, ...read, headers, replayed: headers.get('idempotency-replayed') === 'true' };
  } catch (cause) {
    const reason = isTimeout(end.aborted ? end.reason : cause)
      ? 'timeout'
      : end.aborted
        ? 'aborted'
        : 'network';
    return { ok: false, failure: { kind: 'unreachable', reason }, headers: null };
  }
}

function readResponse<Name extends OperationName>(
  spec: Spec,
  key: string | undefined,
  { ok, status }: Response,
  text: string,
): { readonly value: Answer<Name> } | Failure<Name> {
  if (ok && (spec.text || status === 204)) return { value: (status === 204 ? null : text) as Answer<Name> };
  const body = parse(text);
  if (body !== undefined) {
    const outcome = key === undefined || body[spec.once ?? ''];
    // The service checks its responses against the same schemas.
    if (ok && outcome) return { value: body as Answer<Name> };
    if (!ok && typeof body.error_code === 'string') return refusal<Name>(status, body);
    if (!ok && spec.path.startsWith(POOLS)) return { kind: 'upstream', status, body };
  }
  return { kind: 'unreadable', status };
}

const refusal = <Name extends OperationName>(status: number, body: Body): Failure<Name> =>
  ({ ...body, kind: 'refused', status }) as Failure<Name>;

/** A JSON object; undefined for anything else. */
function parse(text: string): Body | undefined {
  if (text.length > MAX_CHARS) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether something may have been created even if the call failed. */
const isOutcomeUnknown = (failure: Failure): boolean =>
  failure.kind === 'refused'
    ? // An unexpected failure may follow the signature of a transaction.
      canPass(failure) || failure.action === 'report_request_id'
    : failure.kind !== 'upstream';

/** Whether the same request may succeed later. */
export function canPass(failure: Failure): boolean {
  switch (failure.kind) {
    case 'refused':
      return failure.retryable && failure.action !== 'retry_with_new_key';
    case 'upstream':
      return failure.status === 429 || failure.status >= 500;
    case 'unreachable':
      return failure.reason !== 'aborted';
    case 'unreadable':
      return failure.status >= 500;
    case 'invalid':
      return false;
  }
}

export const MAX_PAUSE_MS = 60_000;

/** @param failures one after another, this one included */
export const backOffMs = (failure: Failure, failures: number, firstMs: number): number =>
  failure.kind === 'refused' && failure.retry_after_s !== undefined
    ? failure.retry_after_s * 1_000
    : Math.min(firstMs * 2 ** (failures - 1), MAX_PAUSE_MS);

export const isTimeout = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

/** Ends early when the signal does. */
export function sleep(ms: number, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (end.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      end.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    end.addEventListener('abort', done);
  });
}

/** Moves the members that the path names into it. */
function fillPath(template: string, input: Body): { readonly path: string; readonly rest: Body } {
  const rest: Record<string, unknown> = { ...input };
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(rest[name]));
    delete rest[name];
    return value;
  });
  return { path, rest };
}

function queryOf(members: Body): string {
  const query = new URLSearchParams(Object.entries(members).map(([name, value]) => [name, String(value)]));
  return `?${query}`.replace(/\?$/, '');
}

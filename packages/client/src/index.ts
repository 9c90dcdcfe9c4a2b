/**
 * Client of the Sluice API: typed calls, generated and stored idempotency keys, waiting, and errors as
 * values. It has no dependency and runs wherever `fetch` does.
 * @module
 */
import { type KeyStore, memoryKeys, releaseKey, takeKey } from './keys.ts';
import { OPERATIONS, type Operations, type Problem } from './operations.ts';

export type { KeyStore } from './keys.ts';
export { memoryKeys, newKey } from './keys.ts';
export type * from './operations.ts';

export type OperationName = keyof Operations;
export type Input<Name extends OperationName> = Operations[Name]['input'];
export type Answer<Name extends OperationName> = Operations[Name]['answer'];

/** The API refused or failed. The codes are those that the document declares; a newer service may have more. */
type Refused<Code extends string> = Code extends string
  ? { readonly kind: 'refused'; readonly status: number; readonly error_code: Code } & Omit<
      Problem,
      'error_code'
    >
  : never;

export type Failure<Name extends OperationName = OperationName> =
  | Refused<Operations[Name]['code']>
  /** An upstream's own error, which the pool routes pass on. */
  | { readonly kind: 'upstream'; readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  /** No complete response. `aborted`: by the caller's signal. */
  | { readonly kind: 'unreachable'; readonly reason: 'network' | 'timeout' | 'aborted' }
  /** A response that is not from this API, such as the page of a proxy. */
  | { readonly kind: 'unreadable'; readonly status: number };

export type Result<Name extends OperationName> =
  | {
      readonly ok: true;
      readonly value: Answer<Name>;
      readonly headers: Headers;
      /** True when this is the stored response to an earlier call with the same key. */
      readonly replayed: boolean;
      /** The key that was sent. */
      readonly idempotencyKey?: string;
    }
  | {
      readonly ok: false;
      readonly failure: Failure<Name>;
      /** Null without a response. */
      readonly headers: Headers | null;
      /** Present while the outcome of a creation is unknown: the next call with the same input sends this key again. */
      readonly idempotencyKey?: string;
    };

export type CallOptions = {
  readonly signal?: AbortSignal;
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

export type UntilOptions = {
  readonly signal?: AbortSignal;
  /** Milliseconds after which the last result is returned; without it, `until` ends only at the end state or a final error. */
  readonly timeoutMs?: number;
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
  /** Milliseconds until a call without `wait` times out. Default: 45,000. */
  readonly timeoutMs?: number;
};

/** Never throws. */
export type Call = <Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options?: CallOptions,
) => Promise<Result<Name>>;

export type Client = {
  readonly call: Call;
  /**
   * Reads until `isOver`, by `Prefer: wait` where the service supports it, else by polling. Failures that can pass are
   * retried. Returns the last result; never throws.
   */
  until<Name extends OperationName>(
    name: Name,
    input: Input<Name>,
    isOver: (value: Answer<Name>) => boolean,
    options?: UntilOptions,
  ): Promise<Result<Name>>;
};

const DEFAULT_TIMEOUT_MS = 45_000;
/** Additional time for a call that waits, for the network. */
const WAIT_MARGIN_MS = 15_000;
/** Far more than any response. */
const MAX_CHARS = 2_000_000;
const UNTIL_WAIT_SECONDS = 25;
const POLL_MS = 3_000;
/** Minimum interval between the starts of two reads that the service may delay. */
const MIN_ROUND_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

type Body = Readonly<Record<string, unknown>>;
type Spec = {
  readonly path: string;
  readonly post?: true;
  /** The member that its response must have. */
  readonly once?: string;
  readonly waits?: true;
  readonly text?: true;
};

export function createClient(options: ClientOptions): Client {
  const call = createCall({ keys: memoryKeys(), ...options });
  return { call, until: (...given) => until(call, ...given) };
}

/** Only `call`, for a page with its own waiting and its own store of keys. */
export function createCall({
  baseUrl,
  fetch: send = (url, init) => fetch(url, init),
  headers: fixed = {},
  keys,
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: ClientOptions & { readonly keys: KeyStore }): Call {
  /**
   * The bookmark of the last response that changed the database: later reads then see the change, even from a
   * replica.
   */
  let bookmark: string | null = null;

  /** The complete response, or the reason why there is none. */
  async function transfer(spec: Spec, input: Body, { signal, wait, fresh, idempotencyKey }: CallOptions) {
    const waits = spec.waits && wait !== undefined;
    const late = AbortSignal.timeout(waits ? Math.max(timeoutMs, wait * 1_000 + WAIT_MARGIN_MS) : timeoutMs);
    const { path, rest } = fillPath(spec.path, input);
    const isPost = spec.post === true;
    try {
      const response = await send(`${baseUrl}${path}${isPost ? '' : queryOf(rest)}`, {
        method: isPost ? 'POST' : 'GET',
        signal: signal ? AbortSignal.any([signal, late]) : late,
        headers: {
          ...fixed,
          accept: spec.text ? 'text/*' : 'application/json',
          ...(isPost && { 'content-type': 'application/json' }),
          ...(waits && { prefer: `wait=${wait}` }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...(bookmark !== null && { 'x-data-bookmark': bookmark }),
        },
        ...(isPost && { body: JSON.stringify(rest) }),
        ...(fresh && { cache: 'no-cache' }),
      });
      bookmark = response.headers.get('x-data-bookmark') ?? bookmark;
      return { response, text: await response.text() };
    } catch (cause) {
      if (signal?.aborted) return 'aborted';
      return late.aborted || (cause instanceof DOMException && cause.name === 'TimeoutError')
        ? 'timeout'
        : 'network';
    }
  }

  return async function call<Name extends OperationName>(
    name: Name,
    input: Input<Name>,
    options: CallOptions = {},
  ): Promise<Result<Name>> {
    const spec: Spec = OPERATIONS[name];
    const body: Body = input;
    // A dry run creates nothing, so no outcome can be lost.
    const isOnce = spec.once !== undefined && body.dry_run !== true && body.skipReward !== true;
    const memo = `${name}\n${JSON.stringify(body)}`;
    const idempotencyKey = options.idempotencyKey ?? (isOnce ? takeKey(keys, memo) : undefined);
    const keyed = idempotencyKey === undefined ? {} : { idempotencyKey };
    const received = await transfer(spec, body, { ...options, ...keyed });
    const isGone = options.signal?.aborted === true;
    if (typeof received === 'string')
      return { ok: false, failure: { kind: 'unreachable', reason: received }, headers: null, ...keyed };
    const { response, text } = received;
    const { headers } = response;
    const read = readResponse<Name>(spec, response, text);
    if (read.ok) {
      // The caller of an aborted call does not learn the outcome.
      if (isOnce && !isGone) releaseKey(keys, memo, idempotencyKey);
      const replayed = headers.get('idempotency-replayed') === 'true';
      return { ok: true, value: read.value, headers, replayed, ...keyed };
    }
    if (isOutcomeUnknown(read.failure))
      return { ok: false, failure: read.failure, headers, ...(isOnce && keyed) };
    if (isOnce) releaseKey(keys, memo, idempotencyKey);
    return { ok: false, failure: read.failure, headers };
  };
}

async function until<Name extends OperationName>(
  call: Call,
  name: Name,
  input: Input<Name>,
  isOver: (value: Answer<Name>) => boolean,
  { signal, timeoutMs: limitMs }: UntilOptions = {},
): Promise<Result<Name>> {
  const limit = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs);
  const ends = [signal, limit].filter((end) => end !== undefined);
  for (let failures = 0; ; ) {
    const options: CallOptions = { wait: UNTIL_WAIT_SECONDS, ...(signal && { signal }) };
    const startedAt = Date.now();
    const result = await call(name, input, options);
    const isDone = result.ok ? isOver(result.value) : !canPass(result.failure);
    if (isDone || ends.some(({ aborted }) => aborted)) return result;
    failures = result.ok ? 0 : failures + 1;
    await sleep(result.ok ? pauseMs(result, startedAt) : backOffMs(result.failure, failures), ends);
    if (ends.some(({ aborted }) => aborted)) return result;
  }
}

type Read<Name extends OperationName> =
  | { readonly ok: true; readonly value: Answer<Name> }
  | { readonly ok: false; readonly failure: Failure<Name> };

function readResponse<Name extends OperationName>(spec: Spec, response: Response, text: string): Read<Name> {
  const { ok, status } = response;
  if (ok && (spec.text || status === 204))
    return { ok, value: (status === 204 ? null : text) as Answer<Name> };
  const body = parse(text);
  if (body !== undefined) {
    // The service checks its responses against the same schemas.
    if (ok && (spec.once === undefined || spec.once in body)) return { ok, value: body as Answer<Name> };
    if (!ok && typeof body.error_code === 'string') return { ok, failure: refusal<Name>(status, body) };
    if (!ok && spec.path.startsWith(POOLS)) return { ok, failure: { kind: 'upstream', status, body } };
  }
  return { ok: false, failure: { kind: 'unreadable', status } };
}

/** Only these routes pass on an error of their upstream with its body. */
const POOLS = '/api/dex/';

const refusal = <Name extends OperationName>(status: number, body: Body): Failure<Name> =>
  ({ ...body, kind: 'refused', status }) as unknown as Failure<Name>;

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

/** Whether something may have been created although the call failed. */
function isOutcomeUnknown(failure: Failure): boolean {
  if (failure.kind !== 'refused') return failure.kind !== 'upstream';
  // An unexpected failure may follow the signature of a transaction.
  return (
    (failure.retryable && failure.action !== 'retry_with_new_key') || failure.action === 'report_request_id'
  );
}

/** Whether the same read may succeed later. */
function canPass(failure: Failure): boolean {
  switch (failure.kind) {
    case 'refused':
      return failure.retryable;
    case 'upstream':
      return failure.status === 429 || failure.status >= 500;
    case 'unreachable':
      return failure.reason !== 'aborted';
    case 'unreadable':
      return failure.status >= 500;
  }
}

/**
 * The pause that the response requests. It is shorter after a response that the service may have delayed: for
 * a state that is final to the service but not to `isOver`, the service responds at once.
 */
function pauseMs(
  { value, headers }: { readonly value: unknown; readonly headers: Headers },
  startedAt: number,
): number {
  if (headers.has('preference-applied')) return Math.max(0, startedAt + MIN_ROUND_MS - Date.now());
  const seconds =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'nextPollSeconds') : undefined;
  return typeof seconds === 'number' ? Math.min(seconds * 1_000, MAX_PAUSE_MS) : POLL_MS;
}

function backOffMs(failure: Failure, failures: number): number {
  const seconds = failure.kind === 'refused' ? failure.retry_after_s : undefined;
  return Math.min(seconds === undefined ? POLL_MS * 2 ** (failures - 1) : seconds * 1_000, MAX_PAUSE_MS);
}

/** Ends early when a signal does. */
function sleep(ms: number, ends: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      for (const end of ends) end.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const end of ends) end.addEventListener('abort', done);
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
  const given = Object.entries(members).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/**
 * Reads that are repeated: until a state is reached, or page by page.
 * @module
 */
import {
  type Answer,
  backOffMs,
  type Call,
  type CallOptions,
  canPass,
  type Input,
  isTimeout,
  limited,
  MAX_PAUSE_MS,
  type OperationName,
  type Operations,
  type Result,
  sleep,
} from './call.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

/** Operations that only read. */
export type ReadName = {
  [Name in OperationName]: 'POST' extends Operations[Name]['method'] ? never : Name;
}[OperationName];

/** Lists: their responses have `next_cursor`. */
export type ListName = {
  [Name in ReadName]: Answer<Name> extends { readonly next_cursor: string | null } ? Name : never;
}[ReadName];

/** @typeParam Value a state */
export type UntilOptions<Value = unknown> = {
  readonly signal?: AbortSignal;
  /** Receives each state that does not end it. */
  readonly onState?: (value: Value) => void;
  /** Milliseconds until it ends, also in the middle of a read. Without it, it ends at the state or at a final failure. */
  readonly timeoutMs?: number;
};

/** The state was not reached in time. `value` is the newest one. */
export type Unfinished<Value> = {
  readonly kind: 'unfinished';
  readonly reason: 'timeout' | 'aborted';
  readonly value: Value;
};

/** @typeParam Over the states that end it */
export type Waited<Name extends OperationName, Over = Answer<Name>> = Result<
  Name,
  Over,
  Unfinished<Answer<Name>>
>;

export type IsOver<Name extends ReadName, Over extends Answer<Name>> =
  | ((value: Answer<Name>) => value is Over)
  | ((value: Answer<Name>) => boolean);

const WAIT_SECONDS = 25;
const POLL_MS = 3_000;
/** Minimum interval between the starts of two reads that the service may delay. */
const MIN_ROUND_MS = 1_000;

/** @throws what `isOver` and `onState` throw */
export async function until<Name extends ReadName, Over extends Answer<Name>>(
  call: Call,
  name: Name,
  input: Input<Name>,
  isOver: IsOver<Name, Over>,
  { signal, timeoutMs = Number.POSITIVE_INFINITY, onState }: UntilOptions<Answer<Name>>,
): Promise<Waited<Name, Over>> {
  const spec: Operation<unknown, unknown, string> | undefined = OPERATIONS[name];
  if (spec?.method === 'POST') throw new TypeError(`until only reads: ${name}`);
  const endsAt = Date.now() + timeoutMs;
  const { end, isEnded } = limited(timeoutMs, signal);
  let newest: { readonly value: Answer<Name>; readonly headers: Headers } | undefined;
  for (let failures = 0; ; ) {
    const startedAt = Date.now();
    // The first read returns the state at once; the last one returns before the limit.
    const wait = newest && Math.min(WAIT_SECONDS, Math.floor((endsAt - startedAt) / 1_000) - 1);
    const options: CallOptions = { signal: end, retries: 0, ...(wait && wait > 0 && { wait }) };
    const result = await call(name, input, options);
    if (result.ok) {
      if (isOver(result.value)) return { ...result, value: result.value as Over };
      onState?.(result.value);
      failures = 0;
      if (newest || !spec?.waits) await sleep(pauseMs(result, startedAt), end);
      newest = result;
    } else {
      if (!isEnded() && !canPass(result.failure)) return result;
      failures += 1;
      await sleep(backOffMs(result.failure, failures, POLL_MS), end);
    }
    if (isEnded() && newest) return unfinished(newest, end);
    if (isEnded() && !result.ok) return result;
  }
}

const unfinished = <Value>(
  { value, headers }: { readonly value: Value; readonly headers: Headers },
  { reason }: AbortSignal,
) => ({
  ok: false as const,
  failure: {
    kind: 'unfinished' as const,
    reason: isTimeout(reason) ? ('timeout' as const) : ('aborted' as const),
    value,
  },
  headers,
});

/**
 * The pause that the response requests. It is shorter after a response that the service may have delayed. For a state that
 * is final to the service but not to `isOver`, the service responds at once.
 */
function pauseMs(
  { value, headers }: { readonly value: unknown; readonly headers: Headers },
  startedAt: number,
): number {
  if (headers.has('preference-applied')) return Math.max(0, startedAt + MIN_ROUND_MS - Date.now());
  const seconds: unknown = Object(value).nextPollSeconds;
  return typeof seconds === 'number' ? Math.min(seconds * 1_000, MAX_PAUSE_MS) : POLL_MS;
}

/** Pages of a list, one response each. It ends after the last page, or after a failure. */
export async function* pages<Name extends ListName>(
  call: Call,
  name: Name,
  input: Input<Name>,
  options?: CallOptions,
): AsyncGenerator<Result<Name>, void, undefined> {
  for (let given = input; ; ) {
    const page = await call(name, given, options);
    yield page;
    if (!page.ok || page.value.next_cursor === null) return;
    given = { ...input, cursor: page.value.next_cursor };
  }
}

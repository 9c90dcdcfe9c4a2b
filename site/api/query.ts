/**
 * One API response on a page: loading, shown, refreshed, and kept while the service is unavailable.
 * @module
 */
import { useEffect, useRef, useState } from 'hono/jsx';
import type { Answer, Input, OperationName } from '../../packages/client/src/index.ts';
import { call, type Failure, failureFrom } from './call.ts';

export type LiveAnswer<T> = {
  /** Null until the first answer. Kept when a later refresh fails. */
  readonly value: T | null;
  readonly headers: Headers | null;
  /** Failure of the newest attempt. */
  readonly failure: Failure | null;
  readonly loading: boolean;
  refresh(): void;
};

type State<T> = Omit<LiveAnswer<T>, 'refresh'> & {
  /** The request that the answer belongs to: it is never shown for a different one. */
  readonly of: string | null;
};

const unasked = <T>(request: string | null): State<T> => ({
  of: request,
  value: null,
  headers: null,
  failure: null,
  loading: request !== null,
});

/** Pause between reads of figures that a swap, mint or claim changes: a visitor sees new ones within this time. */
export const FIGURES_POLL_MS = 5_000;

const CHANGED = 'sluice:changed';
/**
 * A node may show the change a moment later than the service, so a single immediate refresh could miss it.
 */
const REFRESH_AFTER_MS = [0, 1500, 3500];

/** Refreshes every answer on the page after a swap, payment, mint or claim has changed figures. */
export const announceChange = (): boolean => window.dispatchEvent(new Event(CHANGED));

/** How long the service may delay a repeated request whose result is not final. */
const WAIT_SECONDS = 10;

/**
 * @param input  null while there is nothing to fetch
 * @param pollMs pause between an answer and the next request; absent for no polling. No pause if the service
 * waits for a change
 * @param isOver whether an answer is final
 */
export function useAnswer<Name extends OperationName>(
  name: Name,
  input: Input<Name> | null,
  pollMs?: number,
  isOver?: (value: Answer<Name>) => boolean,
): LiveAnswer<Answer<Name>> {
  const request = input === null ? null : `${name} ${JSON.stringify(input)}`;
  const [state, setState] = useState<State<Answer<Name>>>(unasked(request));
  const [round, setRound] = useState(0);
  const kept = useRef<State<Answer<Name>> | null>(null);

  useEffect(() => {
    if (input === null) return;
    const ended = new AbortController();
    const { signal } = ended;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timers: ReturnType<typeof setTimeout>[] = [];
    const before = (): State<Answer<Name>> =>
      kept.current?.of === request ? kept.current : unasked(request);
    const show = (change: Partial<State<Answer<Name>>>): void => {
      if (signal.aborted) return;
      kept.current = { ...before(), ...change };
      setState(kept.current);
    };
    let final = false;
    let asking = false;
    let next: { readonly fresh: boolean } | null = null;
    let isHeld = false;
    const ask = async (fresh: boolean): Promise<void> => {
      try {
        const waits = isOver !== undefined && kept.current?.of === request && kept.current.value !== null;
        const { value, headers } = await call(name, input, {
          signal,
          fresh,
          ...(waits && { wait: WAIT_SECONDS }),
        });
        isHeld = headers.has('preference-applied');
        // Set before it is shown: the component that shows a final answer may announce a change at once.
        final = isOver?.(value) ?? false;
        // Another instance of the service may still have older figures than those shown.
        const isOlder = timeOf(value) < timeOf(before().value);
        show({ failure: null, loading: false, ...(isOlder ? {} : { value, headers }) });
      } catch (thrown) {
        isHeld = false;
        show({ failure: failureFrom(thrown), loading: false });
      }
    };
    /**
     * One request at a time: a request made meanwhile is sent once afterwards, unless the answer was final.
     */
    const fetchOnce = async (fresh = false): Promise<void> => {
      next = { fresh: fresh || (next?.fresh ?? false) };
      if (asking) return;
      asking = true;
      while (next !== null) {
        const wanted: { readonly fresh: boolean } = next;
        next = null;
        if (!signal.aborted && !final) await ask(wanted.fresh);
      }
      asking = false;
    };
    let isFirst = true;
    const poll = async (): Promise<void> => {
      const startedAt = Date.now();
      // A repeated request is validated by the service: the browser's copy could be older than an operation.
      await fetchOnce(!isFirst);
      isFirst = false;
      if (!signal.aborted && !final && pollMs !== undefined)
        timer = setTimeout(
          () => whenVisible(poll),
          isHeld ? Math.max(0, startedAt + pollMs - Date.now()) : pollMs,
        );
    };
    const refetch = (): void => {
      if (!final)
        for (const delay of REFRESH_AFTER_MS) timers.push(setTimeout(() => void fetchOnce(true), delay));
    };
    show({ failure: null, loading: true });
    void poll();
    window.addEventListener(CHANGED, refetch);
    return () => {
      ended.abort();
      window.removeEventListener(CHANGED, refetch);
      for (const pending of [timer, ...timers]) clearTimeout(pending);
    };
  }, [request, round]);

  const { of, ...shown } = state;
  return {
    ...(of === request ? shown : unasked<Answer<Name>>(request)),
    refresh: () => setRound((count) => count + 1),
  };
}

/** The time of figures as ISO 8601; empty for an answer without one. */
function timeOf(value: unknown): string {
  const time: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'as_of') : undefined;
  return typeof time === 'string' ? time : '';
}

/** A page in the background makes no requests until it is visible again. */
function whenVisible(run: () => Promise<void>): void {
  if (!document.hidden) return void run();
  document.addEventListener('visibilitychange', () => void run(), { once: true });
}

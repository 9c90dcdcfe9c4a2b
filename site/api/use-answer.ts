/**
 * One API answer on a page: loading, shown, refreshed, and kept while the service is away.
 * @module
 */
import { useEffect, useRef, useState } from 'hono/jsx';
import { call, type Failure, failureFrom } from './call.ts';

export type Answer<T> = {
  /** Null until the first answer. Kept when a later refresh fails. */
  readonly value: T | null;
  readonly headers: Headers | null;
  /** Of the newest attempt. */
  readonly failure: Failure | null;
  readonly loading: boolean;
  refresh(): void;
};

type State<T> = Omit<Answer<T>, 'refresh'> & {
  /** The path that the answer belongs to: it is never shown for a different path. */
  readonly of: string | null;
};

const unasked = <T>(path: string | null): State<T> => ({
  of: path,
  value: null,
  headers: null,
  failure: null,
  loading: path !== null,
});

const CHANGED = 'sluice:changed';
/** The API caches reads for a few seconds: one refresh at once could miss the change. */
const REFRESH_AFTER_MS = [0, 1500, 3500];

/** Refreshes every answer on the page after a swap, payment, mint or claim has changed figures. */
export const announceChange = (): boolean => window.dispatchEvent(new Event(CHANGED));

/**
 * @param path  null while there is nothing to fetch
 * @param pollMs pause between an answer and the next request; absent: no polling
 * @param isOver whether an answer is final
 */
export function useAnswer<T>(
  path: string | null,
  pollMs?: number,
  isOver: (value: T) => boolean = () => false,
): Answer<T> {
  const [state, setState] = useState<State<T>>(unasked(path));
  const [round, setRound] = useState(0);
  const kept = useRef<State<T> | null>(null);

  useEffect(() => {
    if (path === null) return;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timers: ReturnType<typeof setTimeout>[] = [];
    const before = (): State<T> => (kept.current?.of === path ? kept.current : unasked(path));
    const show = (change: Partial<State<T>>): void => {
      if (over) return;
      kept.current = { ...before(), ...change };
      setState(kept.current);
    };
    let final = false;
    let asking = false;
    let again = false;
    const ask = async (): Promise<void> => {
      try {
        const { value, headers } = await call<T>(path);
        // Before it is shown: what shows a final answer may announce a change at once.
        final = isOver(value);
        show({ value, headers, failure: null, loading: false });
      } catch (thrown) {
        show({ failure: failureFrom(thrown), loading: false });
      }
    };
    /** One request at a time: what is wanted meanwhile is asked once more after it, unless it was final. */
    const fetchOnce = async (): Promise<void> => {
      again = asking;
      if (asking) return;
      asking = true;
      do {
        again = false;
        if (!over && !final) await ask();
      } while (again);
      asking = false;
    };
    const poll = async (): Promise<void> => {
      await fetchOnce();
      if (!over && !final && pollMs !== undefined) timer = setTimeout(() => whenVisible(poll), pollMs);
    };
    const refetch = (): void => {
      if (!final)
        for (const delay of REFRESH_AFTER_MS) timers.push(setTimeout(() => void fetchOnce(), delay));
    };
    show({ failure: null, loading: true });
    void poll();
    window.addEventListener(CHANGED, refetch);
    return () => {
      over = true;
      window.removeEventListener(CHANGED, refetch);
      for (const pending of [timer, ...timers]) clearTimeout(pending);
    };
  }, [path, round]);

  const { of, ...shown } = state;
  return {
    ...(of === path ? shown : unasked<T>(path)),
    refresh: () => setRound((count) => count + 1),
  };
}

/** A page in the background makes no requests until it is visible again. */
function whenVisible(run: () => Promise<void>): void {
  if (!document.hidden) return void run();
  document.addEventListener('visibilitychange', () => void run(), { once: true });
}

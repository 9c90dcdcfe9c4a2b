/**
 * One answer of the API on a page: loading, shown, refreshed, kept while the service is away.
 * @module
 */
import { useEffect, useRef, useState } from 'hono/jsx';
import { call, type Failure, failureFrom } from './call.ts';

export type Answer<T> = {
  /** Null until the first answer. Kept when a later refresh fails. */
  readonly value: T | null;
  readonly headers: Headers | null;
  /** Of the newest try. */
  readonly failure: Failure | null;
  readonly loading: boolean;
  refresh(): void;
};

type State<T> = Omit<Answer<T>, 'refresh'> & {
  /** What was asked: an answer to another question is never shown for this one. */
  readonly of: string | null;
};

const unasked = <T>(path: string | null): State<T> => ({
  of: path,
  value: null,
  headers: null,
  failure: null,
  loading: path !== null,
});

/**
 * @param path  null while there is nothing to ask
 * @param pollMs asks again so long after an answer; absent: once
 * @param isOver whether an answer is the last: nothing will change any more
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
    const before = (): State<T> => (kept.current?.of === path ? kept.current : unasked(path));
    const show = (change: Partial<State<T>>): void => {
      if (over) return;
      kept.current = { ...before(), ...change };
      setState(kept.current);
    };
    const ask = async (): Promise<void> => {
      try {
        const { value, headers } = await call<T>(path);
        show({ value, headers, failure: null, loading: false });
        if (isOver(value)) return;
      } catch (thrown) {
        show({ failure: failureFrom(thrown), loading: false });
      }
      if (!over && pollMs !== undefined) timer = setTimeout(() => whenSeen(ask), pollMs);
    };
    show({ failure: null, loading: true });
    void ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [path, round]);

  const { of, ...shown } = state;
  return {
    ...(of === path ? shown : unasked<T>(path)),
    refresh: () => setRound((count) => count + 1),
  };
}

/** A page in the background asks nothing until it is seen again. */
function whenSeen(run: () => Promise<void>): void {
  if (!document.hidden) return void run();
  document.addEventListener('visibilitychange', () => void run(), { once: true });
}

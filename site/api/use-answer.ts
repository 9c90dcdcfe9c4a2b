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

type State<T> = Omit<Answer<T>, 'refresh'>;

/**
 * @param path  null while there is nothing to ask
 * @param pollMs asks again so long after an answer; absent: once
 */
export function useAnswer<T>(path: string | null, pollMs?: number): Answer<T> {
  const [state, setState] = useState<State<T>>({
    value: null,
    headers: null,
    failure: null,
    loading: path !== null,
  });
  const [round, setRound] = useState(0);
  const kept = useRef<State<T> | null>(null);

  useEffect(() => {
    if (path === null) return;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (next: State<T>): void => {
      kept.current = next;
      setState(next);
    };
    const ask = async (): Promise<void> => {
      try {
        const { value, headers } = await call<T>(path);
        if (!over) show({ value, headers, failure: null, loading: false });
      } catch (thrown) {
        const earlier = kept.current;
        if (!over)
          show({
            value: earlier?.value ?? null,
            headers: earlier?.headers ?? null,
            failure: failureFrom(thrown),
            loading: false,
          });
      }
      if (!over && pollMs !== undefined) timer = setTimeout(() => whenSeen(ask), pollMs);
    };
    show({ value: null, headers: null, ...kept.current, failure: null, loading: true });
    void ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [path, round]);

  return { ...state, refresh: () => setRound((count) => count + 1) };
}

/** A page in the background asks nothing until it is seen again. */
function whenSeen(run: () => Promise<void>): void {
  if (!document.hidden) return void run();
  document.addEventListener('visibilitychange', () => void run(), { once: true });
}

import { useEffect, useState } from 'hono/jsx';

/**
 * Unix milliseconds, updated every `everyMs`. Null while the page is prerendered, because a build has no
 * current time.
 */
export function useNow(everyMs: number): number | null {
  const [now, setNow] = useState<number | null>(null);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

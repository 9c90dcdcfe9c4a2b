import { useEffect, useState } from 'hono/jsx';

/** Unix milliseconds, anew every `everyMs`. Null while the page is prerendered: a build has no now. */
export function useNow(everyMs: number): number | null {
  const [now, setNow] = useState<number | null>(null);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

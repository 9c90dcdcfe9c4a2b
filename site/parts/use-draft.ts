import { useEffect, useState } from 'hono/jsx';

/**
 * A form's values: a reload or a closed wallet window loses nothing.
 * @param lasts kept for this tab, or in this browser after the tab was closed
 */
export function useDraft<T extends object>(
  name: string,
  initial: T,
  lasts: 'tab' | 'browser' = 'tab',
): readonly [draft: T, set: (draft: T) => void, forget: () => void] {
  const key = `sluice:draft:${name}`;
  const storage = (): Storage => (lasts === 'tab' ? sessionStorage : localStorage);
  const [draft, setDraft] = useState<T>(initial);
  useEffect(() => {
    try {
      const stored = JSON.parse(storage().getItem(key) ?? 'null');
      if (typeof stored === 'object' && stored !== null) setDraft(known(stored, initial));
    } catch {
      // A browser without storage only loses the draft.
    }
  }, []);
  const store = (value: T | null): void => {
    try {
      if (value === null) storage().removeItem(key);
      else storage().setItem(key, JSON.stringify(value));
    } catch {
      // A browser without storage does not keep the draft.
    }
  };
  return [
    draft,
    (next) => {
      setDraft(next);
      store(next);
    },
    () => store(null),
  ];
}

/** The stored values of fields that the form still has, with their types. */
function known<T extends object>(stored: object, initial: T): T {
  const kept = Object.entries(stored).filter(
    ([name, value]) => name in initial && typeof value === typeof Reflect.get(initial, name),
  );
  return { ...initial, ...Object.fromEntries(kept) };
}

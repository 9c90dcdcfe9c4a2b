/**
 * Values that outlive the page: kept in this browser, and the same in each of its tabs.
 * @module
 */
import { useEffect, useState } from 'hono/jsx';

const PREFIX = 'sluice:';
/** The browser's own event reaches only the other tabs. */
const CHANGED = 'sluice:stored';

/** Undefined while the page is prerendered, and in a browser that blocks storage. */
function inStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}

/** @param read checks the stored JSON; null for a value of another form */
export function readStored<T>(name: string, read: (value: unknown) => T | null): T | null {
  const text = inStorage((storage) => storage.getItem(PREFIX + name));
  try {
    return read(JSON.parse(text ?? 'null'));
  } catch {
    return null;
  }
}

export function store(name: string, value: object | null): void {
  inStorage((storage) =>
    value === null
      ? storage.removeItem(PREFIX + name)
      : storage.setItem(PREFIX + name, JSON.stringify(value)),
  );
  window.dispatchEvent(new Event(CHANGED));
}

/** A stored value that follows the changes of this tab and of the others. Null while the page is prerendered. */
export function useStored<T>(name: string, read: (value: unknown) => T | null): T | null {
  // Read at once, so that no part is first shown without the value.
  const [value, setValue] = useState<T | null>(() => readStored(name, read));
  useEffect(() => {
    const changed = (): void => setValue(readStored(name, read));
    changed();
    window.addEventListener('storage', changed);
    window.addEventListener(CHANGED, changed);
    return () => {
      window.removeEventListener('storage', changed);
      window.removeEventListener(CHANGED, changed);
    };
  }, [name]);
  return value;
}

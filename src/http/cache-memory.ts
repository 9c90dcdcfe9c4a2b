/** Maximum number of values in an isolate's memory. */
const MAX_ENTRIES = 500;
/** Maximum sum of the values' sizes, mostly UTF-16 units of strings, which take up to two bytes each. */
const MAX_SIZE = 8 * 1024 * 1024;
/** Size of a part that is not a string, such as a number or an object without its members. */
const PART_SIZE = 16;

/** Keeps the newest entries, bounded by their number and by the size of their values. */
export class CacheMemory<Entry extends { readonly value: unknown }> {
  readonly #entries = new Map<string, Entry>();
  readonly #sizes = new Map<string, number>();
  #size = 0;

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  set(key: string, entry: Entry, size = sizeOf(entry.value)): void {
    this.delete(key);
    this.#entries.set(key, entry);
    this.#sizes.set(key, size);
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#size <= MAX_SIZE) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
    this.#size -= this.#sizes.get(key) ?? 0;
    this.#sizes.delete(key);
  }
}

/** UTF-16 units of the strings in a value, bytes of its arrays, and `PART_SIZE` units for each other part. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return PART_SIZE + value.length;
  if (ArrayBuffer.isView(value)) return PART_SIZE + value.byteLength;
  if (typeof value !== 'object' || value === null) return PART_SIZE;
  const parts: readonly unknown[] = Object.values(value);
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), PART_SIZE);
}

/** Stores a value as the newest of a map, and deletes the oldest one above `most`. */
export function keepNewest<K, V>(entries: Map<K, V>, key: K, value: V, most: number): void {
  entries.delete(key);
  entries.set(key, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(oldest);
  }
}

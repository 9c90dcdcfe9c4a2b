/** KV whose values a test may look at. */
export function createKv() {
  const stored = new Map<string, string>();
  const kv = {
    get: async (key: string, type?: unknown) => {
      const text = stored.get(key) ?? null;
      return text !== null && JSON.stringify(type)?.includes('json') ? (JSON.parse(text) as unknown) : text;
    },
    put: async (key: string, text: string) => void stored.set(key, text),
  } as unknown as KVNamespace;
  return { stored, kv };
}

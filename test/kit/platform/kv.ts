/**
 * KV as in production. Each location repeats the result of a read for 60 seconds, also that of an absent key. A key
 * accepts one write per second.
 * @see https://developers.cloudflare.com/kv/concepts/how-kv-works/
 * @module
 */
import { subrequest } from './invocation.ts';

export const KV_DELAY_MS = 60_000;
const WRITE_PAUSE_MS = 1_000;

type Kv = Pick<KVNamespace, 'get' | 'put' | 'delete'>;

/** One namespace, seen from any number of locations. */
export class PlatformKv {
  readonly #kv: Kv;
  readonly #written = new Map<string, number>();
  /** Writes that were refused, by key. */
  readonly refused: string[] = [];

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  /** The namespace as one location sees it. */
  location(): KVNamespace {
    const reads = new Map<string, { readonly text: string | null; readonly at: number }>();
    const read = async (key: string): Promise<string | null> => {
      const known = reads.get(key);
      if (known && Date.now() - known.at < KV_DELAY_MS) return known.text;
      const text = await subrequest(() => this.#kv.get(key, 'text'));
      reads.set(key, { text, at: Date.now() });
      return text;
    };
    const seen: Kv = {
      get: async (key: string, type?: unknown) => {
        const text = await read(key);
        const isJson =
          type === 'json' ||
          (typeof type === 'object' && type !== null && Reflect.get(type, 'type') === 'json');
        return text === null || !isJson ? text : JSON.parse(text);
      },
      put: async (key: string, value: string, options?: KVNamespacePutOptions) => {
        this.#admitWrite(key);
        await subrequest(() => this.#kv.put(key, value, options));
      },
      delete: async (key: string) => {
        this.#admitWrite(key);
        await subrequest(() => this.#kv.delete(key));
      },
    } as Kv;
    return seen as KVNamespace;
  }

  #admitWrite(key: string): void {
    const last = this.#written.get(key);
    if (last !== undefined && Math.abs(Date.now() - last) < WRITE_PAUSE_MS) {
      this.refused.push(key);
      throw new Error('KV PUT failed: 429 Too Many Requests');
    }
    this.#written.set(key, Date.now());
  }
}

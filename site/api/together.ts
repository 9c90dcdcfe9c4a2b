/**
 * Reads of the same moment as one request to `/read`, whose response has one part for each of them.
 * @module
 */
type Part = { readonly status: number; readonly headers: Record<string, string>; readonly body: string };
type Waiting = {
  readonly url: string;
  readonly init: RequestInit;
  resolve(response: Response): void;
  reject(reason: unknown): void;
};

/** Timers that are set for the same moment fire a few milliseconds apart. */
const GATHER_MS = 50;
/** The service accepts no more paths in one request. */
const MOST_READS = 12;

let waiting: Waiting[] = [];

async function sendAll(reads: readonly Waiting[]): Promise<void> {
  const [first] = reads;
  if (first === undefined) return;
  try {
    if (reads.length === 1) return first.resolve(await fetch(first.url, first.init));
    const query = reads.map(({ url }) => `of=${encodeURIComponent(url)}`).join('&');
    const response = await fetch(`/read?${query}`, {
      ...first.init,
      // Each part has its own signal: the end of one must not end the others.
      signal: null,
    });
    if (!response.ok) {
      for (const read of reads) read.resolve(response.clone());
      return;
    }
    const parts: readonly Part[] = await response.json();
    for (const [at, { resolve, reject }] of reads.entries()) {
      const part = parts[at];
      if (part === undefined) reject(new TypeError('a part is missing'));
      else resolve(new Response(part.body, part));
    }
  } catch (reason) {
    for (const read of reads) read.reject(reason);
  }
}

/** Like `fetch`, for reads of the API. */
export const readTogether = (url: string, init: RequestInit): Promise<Response> =>
  new Promise((resolve, reject) => {
    if (waiting.length === 0)
      setTimeout(() => {
        const reads = waiting;
        waiting = [];
        for (let from = 0; from < reads.length; from += MOST_READS)
          void sendAll(reads.slice(from, from + MOST_READS));
      }, GATHER_MS);
    init.signal?.addEventListener('abort', () => reject(init.signal?.reason), { once: true });
    waiting.push({ url, init, resolve, reject });
  });

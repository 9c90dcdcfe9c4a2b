import { reset } from 'cloudflare:test';
import { afterAll, beforeAll } from 'vitest';
import { migrate } from './fresh-storage.ts';

// Tests have no network, and the runtime writes each host that it cannot find to its output. An object of an earlier
// test may still call its upstreams.
globalThis.fetch = () => Promise.reject(new TypeError('fetch failed'));
globalThis.WebSocket = class extends EventTarget {
  constructor() {
    super();
    queueMicrotask(() => this.dispatchEvent(new Event('error')));
  }
  close(): void {}
} as unknown as typeof WebSocket;

beforeAll(() => migrate());
afterAll(() => reset());

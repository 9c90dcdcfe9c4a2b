import { Cache } from '../../src/http/cached.ts';
import { createWaiting } from '../../src/http/wait.ts';

/** For a service under test, on the real clock. */
export const newWaiting = () =>
  createWaiting({
    memory: new Cache({ now: Date.now, defer: () => undefined }),
    now: Date.now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });

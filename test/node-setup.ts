import fc from 'fast-check';
import { afterAll, expect } from 'vitest';

/** The same cases each time, so that only a change can fail a run; `FC_SEED` selects other cases. */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_120) });

/** Globals that the next file of this process would find changed. */
const shared = () => ({
  cwd: process.cwd(),
  Date: globalThis.Date,
  fetch: globalThis.fetch,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  now: globalThis.Date.now,
  random: Math.random,
  log: console.log,
});
const before = shared();
afterAll(() => {
  const after = shared();
  for (const [name, value] of Object.entries(before))
    expect(after[name as keyof typeof after], `${name} as it was before this file`).toStrictEqual(value);
});

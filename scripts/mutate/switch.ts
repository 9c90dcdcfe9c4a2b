/**
 * Runs before each test file of a mutation run: turns on one switch, and records which switches the tests
 * reach.
 */
import { appendFileSync } from 'node:fs';
import { afterAll, beforeEach, expect, inject } from 'vitest';
import { SWITCH } from './switch-name.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Number of the switch that is on; -1 for none. */
    mutant: number;
    /** File to which the numbers of the reached switches are written; empty if they are not needed. */
    seenPath: string;
  }
  interface TaskMeta {
    /** The switch that was on while the test ran. */
    mutant?: number;
  }
}

const mutant = inject('mutant');
const seenPath = inject('seenPath');
const seen = new Set<number>();
/** Ends a loop that a mutant made endless; no normal test reads one switch so often. */
const MOST_LOOKS = 30_000_000;
let looks = 0;

Reflect.set(globalThis, SWITCH, (number: number): boolean => {
  if (number !== mutant) {
    if (seenPath !== '') seen.add(number);
    return false;
  }
  looks += 1;
  if (looks > MOST_LOOKS) throw new Error('the mutant does not end');
  return true;
});

beforeEach(({ task }) => {
  task.meta.mutant = mutant;
});

afterAll(() => {
  const { testPath } = expect.getState();
  if (seenPath !== '') appendFileSync(seenPath, `${JSON.stringify([testPath, [...seen]])}\n`);
});

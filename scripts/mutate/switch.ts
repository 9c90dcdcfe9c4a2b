/** Runs before each test file of a mutation run: throws the one switch, and notes which ones the tests come by. */
import { appendFileSync } from 'node:fs';
import { afterAll, beforeEach, expect, inject } from 'vitest';
import { SWITCH } from './switch-name.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Number of the switch that is thrown; -1 for none. */
    mutant: number;
    /** File that gets the numbers of the switches that were asked; empty where nobody wants to know. */
    seenPath: string;
  }
  interface TaskMeta {
    /** The switch that was thrown while the test ran. */
    mutant?: number;
  }
}

const mutant = inject('mutant');
const seenPath = inject('seenPath');
const seen = new Set<number>();
/** A loop that a mutant made endless ends here; no honest test asks one switch so often. */
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

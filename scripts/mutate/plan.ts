/**
 * The interface between the mutation run and the runner of its tests, which works in another thread.
 * @module
 */

/** Name of the global function that returns whether a mutation is on. */
export const SWITCH = '__mutated';

/** A mutation, and how often one test may read it, so that a loop that it makes endless ends. */
export type Turn = readonly [mutant: number, maximum: number];

export type Plan = {
  /** The mutation that is on from the import to the end of each file; -1 for none. */
  readonly mutant: number;
  /** How often one file may read it. */
  readonly maximum: number;
  /** Mutations to try one after the other in each test, by the test's id; null to run each test once. */
  readonly turns: Readonly<Record<string, readonly Turn[]>> | null;
  /** File that gets the report of each test file, one JSON text per line. */
  readonly reportPath: string;
};

/** The mutations that one test file executed and detected. */
export type Report = {
  readonly file: string;
  /** Mutations that were read during the import, and how often. */
  readonly atImport: readonly Turn[];
  /** The same by the test's id. */
  readonly inTest: Readonly<Record<string, readonly Turn[]>>;
  /** Detected in their turns. */
  readonly killed: readonly number[];
  /** The mutation that ended the turns, because its effect may have outlived it. */
  readonly spoiler: number | null;
};

declare module 'vitest' {
  interface ProvidedContext {
    plan: Plan;
  }
  interface TaskMeta {
    /** The mutation that was on for the whole file. */
    mutant?: number;
  }
}

import { afterEach, expect } from 'vitest';

/**
 * For the simulations of a test file: keeps each run that it is given, and after the test expects none of them to have
 * recorded an error.
 */
export function checkRuns(): <Run extends { readonly errors: readonly string[]; release(): void }>(
  run: Run,
) => Run {
  const running: { readonly errors: readonly string[]; release(): void }[] = [];
  afterEach(() => {
    for (const run of running.splice(0)) {
      expect(run.errors).toEqual([]);
      run.release();
    }
  });
  return (run) => {
    running.push(run);
    return run;
  };
}

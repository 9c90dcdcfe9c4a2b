import { afterEach, expect } from 'vitest';

/**
 * Collects the runs of a simulation. After each test, expects that none of them has recorded an error.
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

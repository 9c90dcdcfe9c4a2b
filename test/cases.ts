/**
 * How many cases a test tagged `scaled` runs. `npm test` runs fewer; `npm run test:deep` runs all, and so does a command
 * that names the test's file.
 */
export const cases = (all: number, quick: number): number =>
  process.env.TEST_SUITE === 'quick' ? quick : all;

/**
 * How many cases a test tagged `scaled` runs: fewer in `npm test`, all of them in `npm run test:deep` and when its file
 * is named on the command line.
 */
export const cases = (all: number, quick: number): number =>
  process.env.TEST_SUITE === 'quick' ? quick : all;

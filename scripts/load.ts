/**
 * Mixed traffic at this machine's highest rate on the offline world, while its upstreams fail in turn. `npm
 * run load -- [--seconds 300]`. The exit code is 1 if anything was lost or happened twice, if a response was
 * unexpected, or if memory keeps growing.
 * @module
 */
import { describeLoad, memoryGrowth, runLoad, startLoadWorld } from '../test/e2e/load-run.ts';
import { argumentsOrUsage, readArguments, wholeNumber } from './command-line.ts';

/** Memory leaks if the last figure exceeds that of the first minute times `GROWTH`, plus `SLACK_MB`. */
const GROWTH = 1.5;
const SLACK_MB = 64;

const seconds = argumentsOrUsage('npm run load -- [--seconds 300]', (args) => {
  const { values } = readArguments(args, { seconds: { type: 'string', default: '300' } });
  return wholeNumber('--seconds', values.seconds, { min: 1, max: 86_400 });
});
const world = await startLoadWorld();
try {
  const report = await runLoad(world, seconds);
  console.log(describeLoad(report));
  const { early, late } = memoryGrowth(report.megabytes);
  const bounded = late <= early * GROWTH + SLACK_MB;
  if (!bounded) console.log('memory grows');
  const clean = report.lost.length + report.doubled.length + report.unexpected.length === 0;
  process.exitCode = clean && bounded ? 0 : 1;
} finally {
  await world.stop();
}
process.exit();

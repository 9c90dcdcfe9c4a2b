/**
 * Mixed traffic at the highest rate that this machine holds, on the offline world, while its upstreams fail by turns.
 * `npm run load -- [--seconds 300]`. The exit code is 1 where anything was lost or happened twice, where an answer was
 * one that nobody expected, or where memory grows without end.
 * @module
 */
import { describeLoad, memoryGrowth, runLoad, startLoadWorld } from '../test/e2e/load-run.ts';
import { argumentsOrUsage, readArguments, wholeNumber } from './command-line.ts';

/** More than the first minute's memory by this factor, and as many megabytes, is growth and not settling in. */
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

/**
 * Runs the custodian against seeded schedules. `npm run simulate -- --seeds N --from S [--trace] [--src folder]`
 * @module
 */
import { parseArgs } from 'node:util';
import { loadProduction, OWN_SOURCE } from '../test/simulator/production.ts';
import { runSeed } from '../test/simulator/run-seed.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    src: { type: 'string', default: OWN_SOURCE },
  },
});
const from = Number(values.from);
const seeds = values.trace ? 1 : Number(values.seeds);
const production = await loadProduction(values.src);
const started = performance.now();
const broken = new Map<string, { count: number; first: number; detail: string }>();
const totals: Record<string, number> = {};
for (let seed = from; seed < from + seeds; seed++) {
  const result = await runSeed(seed, production, (line) => {
    if (values.trace) console.log(line());
  });
  for (const [name, count] of Object.entries(result.counts)) totals[name] = (totals[name] ?? 0) + count;
  for (const { invariant, detail } of result.violations) {
    const known = broken.get(invariant);
    if (known) known.count++;
    else broken.set(invariant, { count: 1, first: seed, detail });
  }
}
const seconds = (performance.now() - started) / 1_000;
console.log(`${seeds} seeds in ${seconds.toFixed(1)} s (${(seeds / seconds).toFixed(0)} a second)`);
console.log(totals);
for (const [invariant, { count, first, detail }] of broken)
  console.log(`${invariant}: ${count}, first ${first}: ${detail}`);
process.exitCode = broken.size > 0 ? 1 : 0;

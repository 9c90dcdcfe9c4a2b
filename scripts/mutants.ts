/**
 * Tests the simulator: one of its seeds or, if the list names one, a test must catch each mutant. Otherwise
 * the exit code is 1. `npm run mutants -- [--seeds 2000] [--only text] [--src folder] [--workers 2]`
 */
import { parseArgs } from 'node:util';
import { MUTANTS } from '../test/simulator/mutants.ts';
import { type Caught, catchMutant, failsTest } from '../test/simulator/mutation.ts';
import { OWN_SOURCE } from '../test/simulator/production.ts';
import { inThread, runShared } from './thread.ts';
import { fail, wholeNumber } from './whole-number.ts';

type Share = { readonly source: string; readonly seeds: number; readonly names: readonly string[] };
/**
 * `test`: the file that catches a mutant that no seed detects. `error`: its edits no longer match the code.
 */
type Row = {
  readonly name: string;
  readonly caught?: Caught;
  readonly test?: string;
  readonly error?: string;
};

async function tryAll({ source, seeds, names }: Share, report: (row: Row) => void): Promise<void> {
  for (const mutant of MUTANTS.filter(({ name }) => names.includes(name))) {
    const { name } = mutant;
    try {
      const caught = await catchMutant(mutant, { source, from: 1, to: seeds });
      const test = caught ? undefined : mutant.test;
      if (caught) report({ name, caught });
      else report(test !== undefined && failsTest(mutant, test) ? { name, test } : { name });
    } catch (error) {
      report({ name, error: error instanceof Error ? error.message : String(error) });
    }
  }
}

const USAGE = 'usage: npm run mutants -- [--seeds N] [--only text] [--src folder] [--workers N]';

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: 'string', default: '2000' },
        only: { type: 'string', default: '' },
        src: { type: 'string', default: OWN_SOURCE },
        workers: { type: 'string', default: '2' },
      },
    });
    const names = MUTANTS.map(({ name }) => name).filter((name) => name.includes(values.only));
    if (names.length === 0) throw new Error(`--only ${values.only} names no mutant`);
    const seeds = wholeNumber('--seeds', values.seeds, 10_000_000);
    return { names, seeds, source: values.src, workers: wholeNumber('--workers', values.workers, 64) };
  } catch (error) {
    return fail(error, USAGE);
  }
}

async function main(): Promise<void> {
  const { names, seeds, source, workers } = readArguments();
  const shares = Array.from({ length: workers }, (_none, index) =>
    names.filter((_name, at) => at % workers === index),
  );
  const rows: Row[] = [];
  console.log('| mutant | first seed | what it breaks |\n|---|---|---|');
  const onRow = (row: Row): void => {
    rows.push(row);
    const { name, caught, test, error } = row;
    const result = caught ? `${caught.seed} | ${caught.invariant}` : `${test ?? error ?? 'survives'} | `;
    console.log(`| ${name} | ${result} |`);
  };
  await Promise.all(
    shares.map((own) => inThread<Share, void, Row>(import.meta.url, { source, seeds, names: own }, onRow)),
  );
  const missed = rows.filter((row) => !row.caught && row.test === undefined).length;
  console.log(`${rows.length - missed} of ${rows.length} mutants caught within ${seeds} seeds`);
  process.exitCode = missed > 0 ? 1 : 0;
}

await runShared(main, tryAll);

import { argumentsOrUsage, UsageError } from '../../scripts/command-line.ts';
import { CELLS, type Cell } from './fault-cells.ts';
import { type Outcome, runCells } from './fault-run.ts';

export const cellName = ({ target, fault, phase }: Cell): string => `${target}, ${fault}, ${phase} the send`;

export const isAsStated = ({ cell, result, violations }: Outcome): boolean =>
  result === cell.result && violations.length === 0;

function row(outcome: Outcome): string {
  const { cell, result, violations } = outcome;
  const stated = result === cell.result ? [] : [`NO, stated: ${cell.result}`];
  const verdict = isAsStated(outcome) ? 'yes' : [...stated, ...violations].join('; ');
  return `| ${cell.target} | ${cell.fault} | ${cell.phase} | ${result} | ${verdict} |`;
}

// Words after the command choose the cells whose name has them.
if (import.meta.main) {
  const started = Date.now();
  const cells = argumentsOrUsage(
    'npm run faults -- [WORD ...], such as: npm run faults -- oneclick during',
    (words) => {
      const chosen = CELLS.filter((cell) => words.every((word) => cellName(cell).includes(word)));
      if (chosen.length === 0) throw new UsageError(`No cell has all of: ${words.join(' ')}`);
      return chosen;
    },
  );
  const outcomes = await runCells(cells, { worlds: 3, onOutcome: () => process.stderr.write('.') });
  process.stderr.write('\n');
  console.log('| upstream | fault | when | result | as stated |\n|---|---|---|---|---|');
  for (const outcome of outcomes) console.log(row(outcome));
  const wrong = outcomes.filter((outcome) => !isAsStated(outcome)).length;
  const seconds = Math.round((Date.now() - started) / 1_000);
  console.log(`\n${outcomes.length} cells, ${wrong} not as stated, ${seconds} s`);
  process.exit(wrong === 0 && outcomes.length > 0 ? 0 : 1);
}

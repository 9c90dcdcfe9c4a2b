/** Benches that are commands of their own, run as such; each line of theirs with a ratio is a row. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Row } from './row.ts';
import { ROOT } from './runtime.ts';

const run = promisify(execFile);
const RATIO = /ratio ([\d.]+) \(goal: at (least|most) ([\d.]+)\)/;

async function rowsOf(script: string, topic: string): Promise<Row[]> {
  const path = join(ROOT, 'scripts', script);
  if (!existsSync(path)) return [];
  // A missed goal is its exit code 1: the figures are there all the same.
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', path], {
    cwd: ROOT,
    maxBuffer: 2 ** 24,
  }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }));
  const rows: Row[] = [];
  let before: string[] = [];
  for (const line of stdout.split('\n')) {
    const found = RATIO.exec(line);
    if (!found) {
      if (line.trim() !== '') before.push(line.trim());
      continue;
    }
    const [, ratio = '', side, bound = ''] = found;
    const [limit = '', ours = ''] = before.slice(-2);
    const label = line.slice(0, found.index).replace(/[:,\s]+$/, '');
    rows.push({
      what: [topic, label].filter(Boolean).join(': '),
      ours,
      limit,
      ratio: Number(ratio),
      aim: side === 'least' ? { least: Number(bound) } : { most: Number(bound) },
    });
    before = [];
  }
  if (rows.length === 0) throw new Error(`${script} printed no ratio: ${stdout.slice(-500)}`);
  return rows;
}

export const analytics = (): Promise<Row[]> => rowsOf('bench-analytics.ts', 'page views');
export const search = (): Promise<Row[]> => rowsOf('bench-search.ts', 'search');

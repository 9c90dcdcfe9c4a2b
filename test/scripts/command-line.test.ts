import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { runScript } from '../kit/run-script.ts';

const run = promisify(execFile);

type Nonsense = readonly [script: string, args: readonly string[]];

const NONSENSE: readonly Nonsense[] = [
  ['mutate', ['--judge', 'seed']],
  ['write-docs', ['now']],
  ['doctor', ['--service', 'sluice']],
  ['verify', ['https://sluice.example', '--rpc', 'node']],
  ['backup', ['new.sql', '--no-such-option']],
  ['ops', ['send', '5', 'SOL']],
  ['simulate', ['--seeds', 'abc']],
  ['probe', ['--nothing']],
  ['release', []],
];
const MORE_NONSENSE: readonly Nonsense[] = [
  ['bench', ['--only', 'nothing']],
  ['mutate', ['--area', 'nothing']],
  ['doctor', ['--settings', 'no-such-file']],
  ['verify', ['sluice']],
  ['backup', []],
  ['probe', ['--settings', 'no-such-file']],
  ['pack-mcp', ['one', 'two']],
  ['pack-mcp', ['--origin', 'sluice']],
  ['record-examples', ['--force']],
  ['prepare-worker', ['--force']],
  ['draw-images', ['site']],
  ['release', ['notes', '9.9.9']],
  ['mutate', ['--sample', '-1']],
  ['simulate', ['--previous', '/nowhere']],
  ['simulate', ['--speed', '9']],
  ['../test/e2e/fault-matrix', ['nothing']],
];

async function expectRefused([script, args]: Nonsense): Promise<void> {
  const usage = expect.stringMatching(/npm run |node scripts/);
  expect(await runScript(script, args)).toMatchObject({ code: 2, stdout: '', stderr: usage });
}

it.each(NONSENSE)('refuses the script %s with the arguments %j', (...nonsense) => expectRefused(nonsense));
it.each(MORE_NONSENSE)(
  'refuses the script %s with the invalid arguments %j',
  { tags: ['deep'] },
  (...nonsense) => expectRefused(nonsense),
);

it('npm run passes arguments to the script itself, not to a chained command', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const chained = Object.entries(scripts).filter(([, command]) => /\.ts\b.*&&/.test(command));
  // `npm version` runs this one without arguments.
  expect(chained.map(([name]) => name)).toEqual(['version']);
});

it('the MCP server refuses arguments and names its settings', async () => {
  const refused = run(process.execPath, ['--no-warnings', 'src/mcp/stdio.ts', '--nothing']);
  await expect(refused).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^sluice-mcp: unexpected arguments.*API_BASE_URL/),
  });
});

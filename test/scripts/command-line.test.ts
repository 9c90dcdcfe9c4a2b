import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { cases } from '../cases.ts';
import { runScript } from '../kit/run-script.ts';

const run = promisify(execFile);

const NONSENSE: readonly (readonly [script: string, args: string])[] = [
  ['doctor', '--service sluice'],
  ['ops', 'send 5 SOL'],
  ['backup', ''],
  ['backup', 'new.sql --no-such-option'],
  ['bench', '--only nothing'],
  ['doctor', '--settings no-such-file'],
  ['draw-images', 'site'],
  ['mutate', '--area nothing'],
  ['mutate', '--judge seed'],
  ['mutate', '--sample -1'],
  ['pack-mcp', '--origin sluice'],
  ['pack-mcp', 'one two'],
  ['prepare-worker', '--force'],
  ['probe', '--nothing'],
  ['probe', '--settings no-such-file'],
  ['record-examples', '--force'],
  ['release', ''],
  ['release', 'notes 9.9.9'],
  ['simulate', '--previous /nowhere'],
  ['simulate', '--seeds abc'],
  ['simulate', '--speed 9'],
  ['verify', 'https://sluice.example --rpc node'],
  ['verify', 'sluice'],
  ['write-docs', 'now'],
];

it.each(NONSENSE.slice(0, cases(NONSENSE.length, 2)))(
  'refuses the script %s with the invalid arguments “%s”',
  { tags: ['scaled'] },
  async (script, args) => {
    const usage = expect.stringMatching(/npm run |node scripts/);
    const given = args.split(' ').filter(Boolean);
    expect(await runScript(script, given)).toMatchObject({ code: 2, stdout: '', stderr: usage });
  },
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

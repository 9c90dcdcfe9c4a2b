import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { parseSettings } from '../../scripts/doctor/read-settings.ts';
import { readCommandLine } from '../../scripts/ops/command-line.ts';
import { readConfig } from '../../src/config.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { useFolder } from '../kit/use-folder.ts';
import { commandsOfKind } from './command-kinds.ts';
import { blocksOf, PAGES } from './markdown.ts';

const run = promisify(execFile);
const folder = useFolder('sluice-commands-');
const blocks = PAGES.flatMap((file) => blocksOf(file));
const named = blocks.map((block) => [`${block.file}:${block.line}`, block] as const);

it.each(named)('the code block %s has a language that the tests know', (_name, { language }) => {
  expect(['sh', 'console', 'json', 'ini', 'toml', 'sql', '']).toContain(language);
});

it.each([
  '.live.vars',
  '.staging.vars',
  'backup-today.sql',
  'proof.txt',
  'test/fixtures/probe/node.example.json',
])('git ignores %s, because a command writes it', async (file) => {
  expect((await run('git', ['check-ignore', '--no-index', file])).stdout).toBe(`${file}\n`);
});

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const own = [...commandsOfKind('run'), ...commandsOfKind('resolved')].filter((command) =>
  command.startsWith('npm '),
);

it.each(own)('package.json has the script of “%s” with these options', (command) => {
  const [, direct, name = direct ?? ''] =
    /^npm (?:(ci|start|test)$|run (?:-s )?([\w:-]+))/.exec(command) ?? [];
  if (name === 'ci') return expect(readFileSync('.ci/run', 'utf8')).toContain('npm ci');
  const script = scripts[name];
  expect(script, name).toBeDefined();
  const given = (/ -- (.*)$/.exec(command)?.[1] ?? '').split(' > ')[0]?.split(' ').filter(Boolean) ?? [];
  if (name === 'ops') return expect(readCommandLine(given)).not.toEqual({ type: 'usage' });
  const file = /(?:scripts|site)\/[\w/.-]+\.ts/.exec(script ?? '')?.[0];
  for (const flag of given.filter((word) => word.startsWith('--')))
    expect(readFileSync(file ?? '', 'utf8'), flag).toMatch(new RegExp(`['\\s]${flag.slice(2)}'?: \\{ type`));
});

const files = named.filter(([, { language }]) => ['json', 'ini', 'toml'].includes(language));

it.each(files)(
  'the program that reads the example %s accepts it',
  async (_name, { file, language, text }) => {
    if (language === 'ini') {
      const settings = parseSettings(text);
      expect(Object.keys(settings).length).toBeGreaterThan(0);
      return expect(readConfig(settings).invalid).toEqual([]);
    }
    if (language === 'toml') {
      const path = join(folder, 'wrangler.toml');
      // Its paths point to the repository.
      writeFileSync(
        path,
        `${text}\n${readFileSync('wrangler.toml', 'utf8').replaceAll('"./', `"${process.cwd()}/`)}`,
      );
      const { routes } = unstable_readConfig({ config: path }, { hideWarnings: true });
      return expect(routes).toEqual([{ pattern: 'sluice.example', custom_domain: true }]);
    }
    const value = JSON.parse(text) as Record<string, unknown>;
    // Configurations of MCP clients are compared in test/mcp/snippets.test.ts.
    if (file === 'docs/use/agents.md') return expect(Object.keys(value)).toHaveLength(1);
    const { status: _status, meaning: _meaning, ...stated } = ERRORS[String(value.error_code)] ?? {};
    return expect(value).toMatchObject(stated);
  },
);

it('a code block without a language is a diagram of states', () => {
  const plain = blocks.filter(({ language }) => language === '');
  expect(plain.map(({ file }) => file)).toEqual(['docs/build/custody.md']);
  const states = [...(plain[0]?.text ?? '').matchAll(/\b(planned|signed|settling|done|failed)\b/g)];
  const machine = readFileSync('src/custody/kernel/operation.ts', 'utf8');
  for (const [state = ''] of states) expect(machine).toContain(`'${state}'`);
});

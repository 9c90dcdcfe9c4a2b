import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/mcp/server.ts';
import { useFolder } from '../kit/use-folder.ts';

const FILES = [
  '.npmrc',
  'CHANGELOG.md',
  'docs/use/agents.md',
  'package.json',
  'package-lock.json',
  'packages/client/package.json',
  'packages/sluice-mcp',
  'scripts/command-line.ts',
  'scripts/release.ts',
  'src/mcp/server.ts',
];
const folder = useFolder('sluice-release-');
const env = {
  ...process.env,
  // npm runs the scripts with the Node that is first here.
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b.example' },
  ...{ GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b.example' },
};
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trim();
const npmVersion = (level: string, ...flags: string[]) =>
  spawnSync('npm', ['version', level, ...flags, '--ignore-scripts=false'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
const json = (file: string, root = folder) => JSON.parse(readFileSync(join(root, file), 'utf8'));

/** Every version of this release that a file shows. */
const versionsIn = (root: string): Record<string, unknown> => ({
  'package.json': json('package.json', root).version,
  'package-lock.json': json('package-lock.json', root).version,
  'package-lock.json, root package': json('package-lock.json', root).packages[''].version,
  'packages/client/package.json': json('packages/client/package.json', root).version,
  'packages/sluice-mcp/package.json': json('packages/sluice-mcp/package.json', root).version,
  'packages/sluice-mcp/manifest.json': json('packages/sluice-mcp/manifest.json', root).version,
  'packages/sluice-mcp/server.json': json('packages/sluice-mcp/server.json', root).version,
  'docs/use/agents.md': /sluice-mcp-(.+)\.mcpb/.exec(
    readFileSync(join(root, 'docs/use/agents.md'), 'utf8'),
  )?.[1],
  'src/mcp/server.ts': /export const VERSION = '(.+)'/.exec(
    readFileSync(join(root, 'src/mcp/server.ts'), 'utf8'),
  )?.[1],
});

beforeAll(() => {
  for (const file of FILES) cpSync(file, join(folder, file), { recursive: true });
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'start');
});

it('all files that contain the release version have the same version', () => {
  expect(new Set(Object.values(versionsIn('.')))).toEqual(new Set([VERSION]));
});

/** Adds an entry to the section of what is not released, and commits it. */
function enter(entry: string): void {
  const changelog = join(folder, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  writeFileSync(changelog, text.replace('## [Unreleased]\n', `## [Unreleased]\n\n- ${entry}\n`));
  git('commit', '-q', '-a', '-m', 'change');
}

it('in a repository without tags, the first release tags the version that package.json has', () => {
  enter('A first entry.');
  const { status, stderr } = npmVersion(VERSION, '--allow-same-version');
  expect(status, stderr).toBe(0);
  expect(git('tag')).toBe(`v${VERSION}`);
  expect(git('log', '-1', '--format=%s')).toBe(VERSION);
  expect(git('status', '--porcelain')).toBe('');
  expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toContain(`\n## [${VERSION}] - 20`);
  expect(new Set(Object.values(versionsIn(folder)))).toEqual(new Set([VERSION]));
});

it('in the changelog, only versions with a tag have a date', () => {
  const dated = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## \[(\d.*?)\]/gm)].map(
    ([, version]) => `v${version}`,
  );
  const tags = execFileSync('git', ['tag'], { encoding: 'utf8' }).split('\n');
  expect(tags).toEqual(expect.arrayContaining(dated));
});

describe('npm version minor', () => {
  const [major = 0, minor = 0] = VERSION.split('.').map(Number);
  const next = `${major}.${minor + 1}.0`;
  let entries = '';

  it('npm version minor writes the version to every file, commits and tags', () => {
    enter('A new entry.');
    entries =
      readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
        .split(/^## .*$/m)[1]
        ?.trim() ?? '';
    const { status, stdout, stderr } = npmVersion('minor');
    expect(status, stderr).toBe(0);
    expect(stdout).toContain(`v${next}`);
    expect(new Set(Object.values(versionsIn(folder)))).toEqual(new Set([next]));
    expect(git('tag').split('\n')).toContain(`v${next}`);
    expect(git('status', '--porcelain')).toBe('');
  });

  it('npm version minor moves the changelog entries under the dated version and leaves an empty section', () => {
    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
    const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings[0]).toBe('[Unreleased]');
    expect(headings[1]).toMatch(new RegExp(`^\\[${next}\\] - \\d{4}-\\d\\d-\\d\\d$`));
    expect(changelog.split(/^## .*$/m)[1]?.trim()).toBe('');
    expect(changelog.split(/^## .*$/m)[2]?.trim()).toBe(entries);
    expect(entries).not.toBe('');
  });

  it('the notes of a release are its own section of the changelog', () => {
    const notes = (...args: string[]) =>
      execFileSync(process.execPath, ['scripts/release.ts', 'notes', ...args], {
        cwd: folder,
        encoding: 'utf8',
      }).trim();
    expect(notes()).toBe(entries);
    expect(notes(next)).toBe(entries);
  });

  it('npm version minor is refused and leaves all files unchanged if Unreleased is empty', () => {
    const { status, stderr } = npmVersion('patch');
    expect(status).not.toBe(0);
    expect(stderr).toContain("CHANGELOG.md has no entry under 'Unreleased'");
    expect(json('package.json').version).toBe(next);
    expect(git('status', '--porcelain')).toBe('');
  });

  it('a later npm version releases the entries added after the first', () => {
    const file = join(folder, 'CHANGELOG.md');
    enter('Mends a fault.');
    expect(npmVersion('patch').status).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(
      new RegExp(
        `^## \\[Unreleased\\]\n\n## \\[${major}\\.${minor + 1}\\.1\\] - .*\n\n- Mends a fault\\.\n\n## \\[${next}\\] - `,
        'm',
      ),
    );
  });
});

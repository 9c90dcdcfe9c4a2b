/**
 * The steps of `npm version` that belong to this project, and the notes of a release.
 * `check`: fails before anything changes if there is nothing to release. `apply`: writes the version of package.json into
 * every file that has one, and dates the changelog. `notes [VERSION]`: prints the changelog's section of a version.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { argumentsOrUsage, oneOf, readArguments, UsageError } from './command-line.ts';

/** Files that contain the release's version, and the text that precedes the version. */
const VERSION_BEFORE: Readonly<Record<string, RegExp>> = {
  'packages/client/package.json': /("version": ")[^"]+/g,
  'packages/sluice-mcp/package.json': /("version": ")[^"]+/g,
  'packages/sluice-mcp/server.json': /("version": ")[^"]+/g,
  'packages/sluice-mcp/manifest.json': /("version": ")[^"]+/g,
  'docs/use/agents.md': /(sluice-mcp-)\d+\.\d+\.\d+/g,
  'src/mcp/server.ts': /(export const VERSION = ')[^']+/g,
};
const CHANGELOG = 'CHANGELOG.md';
const UNRELEASED = 'Unreleased';

const read = (file: string): string => readFileSync(file, 'utf8');

/** The lines under the heading of a version, without the heading. @throws UsageError when there are none */
function section(version: string): string {
  const [, ...parts] = read(CHANGELOG).split(/^## /m);
  const text = parts.find((part) => part.startsWith(`[${version}]`));
  if (text === undefined) throw new UsageError(`${CHANGELOG} has no section '${version}'`);
  return text.slice(text.indexOf('\n') + 1).trim();
}

function check(): void {
  if (section(UNRELEASED) !== '') return;
  throw new UsageError(`${CHANGELOG} has no entry under '${UNRELEASED}': there is nothing to release`);
}

function apply(version: string): void {
  check();
  for (const [file, pattern] of Object.entries(VERSION_BEFORE)) {
    const text = read(file);
    if (text.search(pattern) < 0) throw new Error(`${file} has no version`);
    writeFileSync(file, text.replaceAll(pattern, `$1${version}`));
  }
  const today = new Date().toISOString().slice(0, 10);
  const heading = `## [${UNRELEASED}]\n`;
  writeFileSync(CHANGELOG, read(CHANGELOG).replace(heading, `${heading}\n## [${version}] - ${today}\n`));
}

argumentsOrUsage('node scripts/release.ts check | apply | notes [VERSION]', (args) => {
  const [word = '', version] = readArguments(args, {}, 2).positionals;
  const step = oneOf('The step', word, ['check', 'apply', 'notes']);
  const current = (JSON.parse(read('package.json')) as { version: string }).version;
  if (step === 'check') check();
  if (step === 'apply') apply(current);
  if (step === 'notes') console.log(section(version ?? current));
});

/**
 * `npm run -s mcp:pack [-- FOLDER] [--origin URL] [--repository URL]` builds the MCP server as one file. It packs it for
 * npm and as a bundle (.mcpb) for desktop hosts. `--origin` and `--repository` replace `homepage` and `repository` of
 * package.json. Prints the path of the tarball, then of the bundle; FOLDER/package has their files.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { zipSync } from 'fflate';
import { TOOLS } from '../src/mcp/tools/all-tools.ts';
import { argumentsOrUsage, httpUrl, readArguments, UsageError } from './command-line.ts';

const TEMPLATES = 'packages/sluice-mcp';
const PLACEHOLDER = {
  origin: 'https://sluice.example',
  repository: 'https://github.com/sluice-example/sluice',
};
const ENTRY = 'sluice-mcp.mjs';

/** The project's own names, from package.json. */
const own = JSON.parse(readFileSync('package.json', 'utf8')) as {
  homepage: string;
  repository: { url: string };
};

const { origin, repository, positionals } = argumentsOrUsage(
  'npm run -s mcp:pack -- [FOLDER] [--origin URL] [--repository URL]',
  (args) => {
    const options = {
      origin: { type: 'string', default: own.homepage },
      repository: { type: 'string', default: own.repository.url.replace(/^git\+/, '') },
    } as const;
    const { values, positionals } = readArguments(args, options, 1);
    const repository = httpUrl('--repository', values.repository).href.replace(/(\.git)?\/?$/, '');
    const { origin } = httpUrl('--origin', values.origin);
    if (origin === PLACEHOLDER.origin || repository === PLACEHOLDER.repository)
      throw new UsageError('Name your own with --origin and --repository, or in package.json');
    return { origin, repository, positionals };
  },
);
const folder = resolve(positionals[0] ?? 'dist/mcp');
const source = join(folder, 'package');

const placed = (text: string): string =>
  text
    .replaceAll(PLACEHOLDER.origin, origin)
    .replaceAll(serverName(PLACEHOLDER.origin), serverName(origin))
    .replaceAll(PLACEHOLDER.repository, repository);
const template = (file: string): string => placed(readFileSync(join(TEMPLATES, file), 'utf8'));

rmSync(source, { recursive: true, force: true });
mkdirSync(source, { recursive: true });
const { metafile } = await build({
  entryPoints: ['src/mcp/stdio.ts'],
  outfile: join(source, ENTRY),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  minifySyntax: true,
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'eof',
  logLevel: 'error',
  metafile: true,
});
// A module whose whole text was removed by tree shaking is not in the file.
const shipped = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
);
chmodSync(join(source, ENTRY), 0o755);
copyFileSync('LICENSE', join(source, 'LICENSE'));
writeFileSync(join(source, 'THIRD-PARTY.txt'), notices(shipped));
for (const file of ['package.json', 'server.json']) writeFileSync(join(source, file), template(file));
const tools = TOOLS.map(({ name, title }) => `- \`${name}\`: ${title}`).join('\n');
writeFileSync(join(source, 'README.md'), `${template('README.md')}\n## Tools\n\n${tools}\n`);

const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
  cwd: source,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [{ filename, version }] = JSON.parse(packed) as [{ filename: string; version: string }];
const bundle = join(folder, `sluice-mcp-${version}.mcpb`);
const manifest = {
  ...(JSON.parse(template('manifest.json')) as object),
  tools: TOOLS.map(({ name, title }) => ({ name, description: title })),
};
writeFileSync(
  bundle,
  zipSync({
    'manifest.json': Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`),
    ...Object.fromEntries(
      [ENTRY, 'LICENSE', 'README.md', 'THIRD-PARTY.txt'].map((file) => [
        file,
        readFileSync(join(source, file)),
      ]),
    ),
  }),
);
console.log(`${join(folder, filename)}\n${bundle}`);

/** Reverse-DNS name of the server at this origin, as in `server.json` and the registry: `example.sluice/sluice-mcp`. */
function serverName(origin: string): string {
  const labels = new URL(origin).hostname.replace(/[^\w.-]/g, '').split('.');
  return `${labels.toReversed().join('.')}/sluice-mcp`;
}

/** The licenses of all packages whose code is in the file. */
function notices(inputs: readonly string[]): string {
  const folders = inputs.flatMap((input) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const named = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
      if (named === undefined) throw new Error(`${folder} has no license file`);
      return `${folder.replace('node_modules/', '')}\n\n${readFileSync(join(folder, named), 'utf8')}`;
    })
    .join('\n\n');
}

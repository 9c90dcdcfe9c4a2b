/**
 * `npm run -s mcp:pack`: one file with all that the MCP server needs, as a package whose bin runs with npx. Prints the
 * path of the tarball.
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
import { TOOLS } from '../src/mcp/tools.ts';

const folder = resolve(process.argv[2] ?? 'dist/mcp');
const source = join(folder, 'package');
const { version, license, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  string,
  unknown
>;

rmSync(source, { recursive: true, force: true });
mkdirSync(source, { recursive: true });
const { metafile } = await build({
  entryPoints: ['src/mcp/stdio.ts'],
  outfile: join(source, 'sluice-mcp.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'eof',
  logLevel: 'error',
  metafile: true,
});
chmodSync(join(source, 'sluice-mcp.mjs'), 0o755);
copyFileSync('LICENSE', join(source, 'LICENSE'));
writeFileSync(join(source, 'THIRD-PARTY.txt'), notices(Object.keys(metafile.inputs)));
writeFileSync(
  join(source, 'package.json'),
  `${JSON.stringify(
    {
      name: 'sluice-mcp',
      version,
      description:
        'MCP server (stdio) of Sluice: reserve report, SOL to BTC swap bounds, estimate, creation and status',
      license,
      type: 'module',
      engines,
      bin: { 'sluice-mcp': 'sluice-mcp.mjs' },
      files: ['sluice-mcp.mjs', 'THIRD-PARTY.txt'],
      keywords: ['mcp', 'bitcoin', 'solana'],
    },
    null,
    2,
  )}\n`,
);
writeFileSync(
  join(source, 'README.md'),
  `# sluice-mcp\n\nSet \`API_BASE_URL\` to the origin of a Sluice service and run \`sluice-mcp\`.\n\n${TOOLS.map(
    ({ name, title }) => `- \`${name}\`: ${title}`,
  ).join('\n')}\n`,
);
const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
  cwd: source,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
console.log(join(folder, filename));

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

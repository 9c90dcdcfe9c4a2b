/** @module-tag deep */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { strFromU8, unzipSync } from 'fflate';
import { beforeAll, expect, it } from 'vitest';
import { VERSION } from '../../src/mcp/server.ts';
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { NODES } from '../kit/nodes.ts';
import { useFolder } from '../kit/use-folder.ts';
import { openLegacy, startApi, startStdio, strayOutput } from './stdio-process.ts';

const run = promisify(execFile);
const folder = useFolder('sluice-pack-');
const ORIGIN = 'https://reserve.example';
const REPOSITORY = 'https://github.com/someone/reserve';
const NAMES = TOOLS.map(({ name }) => name);
let tarball = '';
let bundle = '';
beforeAll(async () => {
  const args = ['run', '-s', 'mcp:pack', '--', folder, '--origin', ORIGIN, '--repository', REPOSITORY];
  const { stdout } = await run('npm', args, { cwd: process.cwd() });
  [tarball = '', bundle = ''] = stdout.trim().split('\n');
}, 120_000);

const packaged = (file: string): string => readFileSync(join(folder, 'package', file), 'utf8');

it('the MCP package has no dependency and names the licenses of the code that it contains', () => {
  const manifest = JSON.parse(packaged('package.json')) as object;
  expect(manifest).toMatchObject({ name: 'sluice-mcp', bin: { 'sluice-mcp': 'sluice-mcp.mjs' } });
  expect(manifest).not.toHaveProperty('dependencies');
  const notices = packaged('THIRD-PARTY.txt');
  expect(notices).toContain('@modelcontextprotocol/server');
  expect(notices).toContain('zod');
});

it('package.json and server.json have the same name and version and the given origin', () => {
  const manifest = JSON.parse(packaged('package.json')) as Record<string, unknown>;
  const server = JSON.parse(packaged('server.json')) as Record<string, unknown>;
  expect(manifest).toMatchObject({
    version: VERSION,
    mcpName: 'example.reserve/sluice-mcp',
    repository: { url: `git+${REPOSITORY}.git` },
  });
  expect(server).toMatchObject({
    name: manifest.mcpName,
    version: VERSION,
    remotes: [{ type: 'streamable-http', url: `${ORIGIN}/mcp` }],
  });
  // The registry's limit.
  expect(String(server.description).length).toBeLessThanOrEqual(100);
  for (const file of ['package.json', 'server.json', 'README.md', 'sluice-mcp.mjs'])
    expect(packaged(file)).not.toMatch(/sluice\.example|example\.sluice|sluice-example/);
});

it('the desktop bundle has a manifest that names its entry point and every tool', () => {
  const files = unzipSync(readFileSync(bundle));
  const manifest = JSON.parse(strFromU8(files['manifest.json'] ?? new Uint8Array())) as {
    server: { entry_point: string };
    tools: { name: string }[];
  };
  expect(manifest).toMatchObject({
    manifest_version: '0.3',
    version: VERSION,
    user_config: { api_base_url: { default: ORIGIN } },
  });
  expect(manifest.tools.map(({ name }) => name)).toEqual(NAMES);
  expect(strFromU8(files[manifest.server.entry_point] ?? new Uint8Array())).toBe(packaged('sluice-mcp.mjs'));
});

it.each(NODES)(
  'the package is installed in an empty folder without a registry, runs on Node %s, and writes only protocol to stdout',
  async (_name, node) => {
    const api = await startApi({});
    const empty = mkdtempSync(join(folder, 'empty-'));
    const npm = ['install', '--offline', '--cache', join(folder, 'cache'), '--prefix', empty, tarball];
    await run('npm', npm, { cwd: empty });
    const entry = join(empty, 'node_modules/sluice-mcp/sluice-mcp.mjs');
    const server = startStdio(node, [entry], { API_BASE_URL: api.url }, empty);
    try {
      const { title, description } = JSON.parse(packaged('server.json')) as Record<string, unknown>;
      expect(await openLegacy(server)).toMatchObject({ result: { serverInfo: { title, description } } });
      const { result } = await server.request('tools/list');
      expect((result as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(NAMES);
      server.closeInput();
      expect(await server.exited).toBe(0);
      expect(strayOutput(server.stdout())).toEqual([]);
    } finally {
      server.kill('SIGKILL');
      await api.stop();
    }
  },
);

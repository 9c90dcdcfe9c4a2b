import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLegacy, startApi, startStdio, strayOutput } from './stdio-process.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'sluice-pack-'));
let tarball: string;
beforeAll(async () => {
  const { stdout } = await run('npm', ['run', '-s', 'mcp:pack', '--', folder], { cwd: process.cwd() });
  tarball = stdout.trim();
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the tarball needs no other package and names the licenses of what it contains', () => {
  const manifest = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8')) as object;
  expect(manifest).toMatchObject({ name: 'sluice-mcp', bin: { 'sluice-mcp': 'sluice-mcp.mjs' } });
  expect(manifest).not.toHaveProperty('dependencies');
  const notices = readFileSync(join(folder, 'package/THIRD-PARTY.txt'), 'utf8');
  expect(notices).toContain('@modelcontextprotocol/server');
  expect(notices).toContain('zod');
});

it('runs with npx, offline, from an empty folder, and writes protocol only', {
  timeout: 60_000,
}, async () => {
  const api = await startApi({});
  const env = { API_BASE_URL: api.url, npm_config_cache: join(folder, 'cache'), npm_config_offline: 'true' };
  const args = ['-y', `--package=${tarball}`, 'sluice-mcp'];
  const server = startStdio('npx', args, env, folder);
  try {
    await openLegacy(server);
    const { result } = await server.request('tools/list');
    expect((result as { tools: unknown[] }).tools).toHaveLength(5);
    server.closeInput();
    expect(await server.exited).toBe(0);
    expect(strayOutput(server.stdout())).toEqual([]);
  } finally {
    server.kill('SIGKILL');
    await api.stop();
  }
});

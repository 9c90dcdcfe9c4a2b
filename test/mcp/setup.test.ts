import { execFile } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addToJson, addToToml } from '../../src/mcp/client-config.ts';
import { setup } from '../../src/mcp/setup.ts';

const run = promisify(execFile);
const ORIGIN = 'https://reserve.example';
const ENTRY = { url: `${ORIGIN}/mcp` };
const TABLE = `[mcp_servers.sluice]\nurl = "${ORIGIN}/mcp"`;

let home: string;
let printed = '';
const inHome = (file: string): string => join(home, file);
const read = (file: string): string => readFileSync(inHome(file), 'utf8');
function put(file: string, text: string): void {
  mkdirSync(join(inHome(file), '..'), { recursive: true });
  writeFileSync(inHome(file), text);
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-setup-'));
  vi.stubEnv('HOME', home);
  for (const name of ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'XDG_CONFIG_HOME']) vi.stubEnv(name, undefined);
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

describe.runIf(process.platform === 'linux')('setup', () => {
  it('setup shows the entry, then adds the server to each installed client', async () => {
    for (const folder of ['.claude', '.cursor', '.codex', '.config/Claude'])
      mkdirSync(inHome(folder), { recursive: true });
    const questions: string[] = [];
    await setup([], ORIGIN, async (question) => {
      questions.push(question);
      expect(existsSync(inHome('.cursor/mcp.json'))).toBe(false);
      return true;
    });
    expect(questions).toHaveLength(1);
    expect(printed).toContain(
      `cursor: adds to ${inHome('.cursor/mcp.json')}\n{"mcpServers":{"sluice":{"url":`,
    );
    expect(JSON.parse(read('.claude.json'))).toEqual({ mcpServers: { sluice: { type: 'http', ...ENTRY } } });
    expect(JSON.parse(read('.cursor/mcp.json'))).toEqual({ mcpServers: { sluice: ENTRY } });
    expect(JSON.parse(read('.config/Claude/claude_desktop_config.json'))).toEqual({
      mcpServers: { sluice: { command: 'npx', args: ['-y', 'sluice-mcp'], env: { API_BASE_URL: ORIGIN } } },
    });
    expect(read('.codex/config.toml')).toBe(`${TABLE}\n`);
    expect(statSync(inHome('.claude.json')).mode & 0o777).toBe(0o600);
    await setup(['--yes'], ORIGIN);
    expect(printed).toMatch(/has it already[\s\S]*Nothing to write\.\n$/);
  });

  it('setup writes nothing on a dry run, after the answer no, or without a client', async () => {
    await setup(['--yes'], ORIGIN);
    expect(printed).toBe('Nothing to write.\n');
    mkdirSync(inHome('.cursor'));
    await setup(['--dry-run', '--yes'], ORIGIN);
    await setup([], ORIGIN, async () => false);
    expect(readdirSync(inHome('.cursor'))).toEqual([]);
    expect(printed).toMatch(/adds to [\s\S]*Dry run: nothing was written\.[\s\S]*Nothing was written\.\n$/);
  });

  it('setup writes only the named clients, whether they are installed or not', async () => {
    mkdirSync(inHome('.cursor'));
    await setup(['codex', '--yes'], ORIGIN);
    expect([existsSync(inHome('.codex/config.toml')), existsSync(inHome('.cursor/mcp.json'))]).toEqual([
      true,
      false,
    ]);
    await expect(setup(['emacs', '--yes'], ORIGIN)).rejects.toThrow(
      /unknown client emacs; known: claude-code/,
    );
  });

  it('setup keeps other entries and a symbolic link, and does not change a file that it cannot read', async () => {
    put('dotfiles/mcp.json', '{"mcpServers":{"other":{"command":"x"}}}');
    mkdirSync(inHome('.cursor'));
    symlinkSync(inHome('dotfiles/mcp.json'), inHome('.cursor/mcp.json'));
    put('.claude.json', '{ // mine\n}');
    await setup(['--yes'], ORIGIN);
    expect(lstatSync(inHome('.cursor/mcp.json')).isSymbolicLink()).toBe(true);
    expect(JSON.parse(read('dotfiles/mcp.json'))).toEqual({
      mcpServers: { other: { command: 'x' }, sluice: ENTRY },
    });
    expect(read('.claude.json')).toBe('{ // mine\n}');
    expect(printed).toContain('.claude.json is left as it is, because the file is not valid JSON');
    expect(readdirSync(inHome('dotfiles'))).toEqual(['mcp.json']);
  });

  it('setup keeps what a client wrote to its file while setup waited for the user', async () => {
    put('.cursor/mcp.json', '{}');
    await setup([], ORIGIN, async () => {
      put('.cursor/mcp.json', '{"mcpServers":{"newer":{}}}');
      return true;
    });
    expect(JSON.parse(read('.cursor/mcp.json'))).toEqual({ mcpServers: { newer: {}, sluice: ENTRY } });
  });

  it('setup refuses to write without --yes when it cannot ask the user', async () => {
    mkdirSync(inHome('.cursor'));
    const entry = join(import.meta.dirname, '../../src/mcp/stdio.ts');
    const env = { ...process.env, HOME: home, API_BASE_URL: ORIGIN };
    const failed = await run(process.execPath, [entry, 'setup'], { env }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('pass --yes to write') });
    expect(readdirSync(inHome('.cursor'))).toEqual([]);
    const { stdout } = await run(process.execPath, [entry, 'setup', '--yes'], { env });
    expect(stdout).toContain('cursor: written');
    expect(JSON.parse(read('.cursor/mcp.json'))).toEqual({ mcpServers: { sluice: ENTRY } });
  });
});

describe('an addition to JSON', () => {
  it.each<[name: string, text: string, added: string]>([
    ['no file', '', '{\n  "mcpServers": {\n    "s": {\n      "a": 1\n    }\n  }\n}\n'],
    [
      'other members, in their notation',
      '{"n": 12345678901234567890, "t": "mcpServers\\": {"}',
      '{"n": 12345678901234567890, "t": "mcpServers\\": {",\n  "mcpServers": {\n    "s": {\n      "a": 1\n    }\n  }}',
    ],
    [
      'other servers, indented by tabs',
      '{\n\t"mcpServers": {\n\t\t"o": { "mcpServers": {} }\n\t}\n}\n',
      '{\n\t"mcpServers": {\n\t\t"o": { "mcpServers": {} },\n\t\t"s": {\n\t\t\t"a": 1\n\t\t}\n\t}\n}\n',
    ],
    [
      'a member of the same name elsewhere',
      '{\n  "x": [{ "mcpServers": { "s": 2 } }],\n  "mcpServers": {}\n}',
      '{\n  "x": [{ "mcpServers": { "s": 2 } }],\n  "mcpServers": {\n    "s": {\n      "a": 1\n    }\n  }\n}',
    ],
  ])('adding an entry keeps every other byte of a JSON file: %s', (_name, text, added) => {
    expect(addToJson(text, 'mcpServers', 's', { a: 1 })).toEqual({ type: 'added', text: added });
  });

  it.each([
    ['{', 'the file is not valid JSON'],
    ['[]', 'the file is not a JSON object'],
    ['{"mcpServers":[]}', 'mcpServers is not an object'],
    ['{"mcpServers":{"s":{"a":2}}}', 'mcpServers already has another entry named s'],
  ])('refuses to add an entry to the JSON file %s', (text, reason) => {
    expect(addToJson(text, 'mcpServers', 's', { a: 1 })).toEqual({ type: 'refused', reason });
  });

  it('reports a JSON entry as present when the same entry exists', () => {
    expect(addToJson('{"mcpServers":{"s":{"a":1}}}', 'mcpServers', 's', { a: 1 })).toEqual({
      type: 'present',
    });
  });
});

describe('an addition to TOML', () => {
  it.each([
    ['', `${TABLE}\n`],
    ['model = "x"\n', `model = "x"\n\n${TABLE}\n`],
    ['[mcp_servers.other]\nurl = "y"', `[mcp_servers.other]\nurl = "y"\n\n${TABLE}\n`],
  ])('appends the table after the TOML text %j', (text, added) => {
    expect(addToToml(text, 'sluice', TABLE)).toEqual({ type: 'added', text: added });
  });

  it.each([
    ['[mcp_servers.sluice]\nurl = "z"', 'the file already has another table mcp_servers.sluice'],
    ['[ mcp_servers . "sluice" . env ]', 'the file already has another table mcp_servers.sluice'],
    ['mcp_servers = { other = {} }', 'mcp_servers is not a table of its own'],
    ['mcp_servers.sluice.url = "z"', 'mcp_servers is not a table of its own'],
  ])('refuses to add a table to the TOML file %j', (text, reason) => {
    expect(addToToml(text, 'sluice', TABLE)).toEqual({ type: 'refused', reason });
  });

  it('reports a TOML table as present when the same table exists', () => {
    expect(addToToml(`a = 1\n${TABLE}\n`, 'sluice', TABLE)).toEqual({ type: 'present' });
  });
});

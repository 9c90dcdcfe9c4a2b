/**
 * `npx sluice-mcp setup [CLIENT...] [--dry-run] [--yes]`: adds this server to the configuration of MCP clients, after showing
 * what it adds. Without names, it adds the server to each installed client.
 * @module
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { type Added, addToJson, addToToml } from './client-config.ts';
import { ENTRY_NAME, httpEntry, stdioEntry, urlEntry } from './snippets.ts';

/** Origin of the service that publishes this package; `npm run mcp:pack -- --origin URL` replaces it. */
export const PUBLISHED_ORIGIN = 'https://sluice.example';

type Client = {
  readonly name: string;
  /** This folder exists where the client is installed. */
  readonly folder: string;
  readonly file: string;
  /** The addition, as printed for the user before the file is changed. */
  readonly shown: string;
  /** The text of the file with the addition. */
  add(text: string): Added;
};

const USER_ONLY = 0o600;

/** @param origin scheme and host of the service */
function clientsOf(origin: string): readonly Client[] {
  const home = homedir();
  const { CLAUDE_CONFIG_DIR, CODEX_HOME } = process.env;
  const desktop = join(applicationFolder(home), 'Claude');
  const cursor = join(home, '.cursor');
  const codex = CODEX_HOME ?? join(home, '.codex');
  const url = `${origin}/mcp`;
  const table = `[mcp_servers.${ENTRY_NAME}]\nurl = ${JSON.stringify(url)}`;
  const json = (name: string, folder: string, file: string, entry: object): Client => ({
    name,
    folder,
    file,
    shown: JSON.stringify({ mcpServers: { [ENTRY_NAME]: entry } }),
    add: (text) => addToJson(text, 'mcpServers', ENTRY_NAME, entry),
  });
  return [
    json(
      'claude-code',
      CLAUDE_CONFIG_DIR ?? join(home, '.claude'),
      join(CLAUDE_CONFIG_DIR ?? home, '.claude.json'),
      httpEntry(origin),
    ),
    json('claude-desktop', desktop, join(desktop, 'claude_desktop_config.json'), stdioEntry(origin)),
    json('cursor', cursor, join(cursor, 'mcp.json'), urlEntry(origin)),
    {
      name: 'codex',
      folder: codex,
      file: join(codex, 'config.toml'),
      shown: table,
      add: (text) => addToToml(text, ENTRY_NAME, table),
    },
  ];
}

function applicationFolder(home: string): string {
  const { APPDATA, XDG_CONFIG_HOME } = process.env;
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (process.platform === 'win32') return APPDATA ?? join(home, 'AppData', 'Roaming');
  return XDG_CONFIG_HOME ?? join(home, '.config');
}

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Replaces the file in one step, so that a client never reads half of it. A symbolic link stays a link. */
function write(file: string, text: string): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  mkdirSync(dirname(target), { recursive: true });
  const mode = existsSync(target) ? statSync(target).mode : USER_ONLY;
  const draft = `${target}.sluice-${process.pid}`;
  writeFileSync(draft, text, { mode });
  renameSync(draft, target);
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

async function agreed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error('nobody can be asked: pass --yes to write, or --dry-run');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const reply = await terminal.question(question);
  terminal.close();
  return /^y(es)?$/i.test(reply.trim());
}

/** The clients to set up. @throws Error for an unknown name */
function chosen(clients: readonly Client[], names: readonly string[]): readonly Client[] {
  const unknown = names.find((name) => !clients.some((client) => client.name === name));
  if (unknown !== undefined)
    throw new Error(`unknown client ${unknown}; known: ${clients.map(({ name }) => name).join(', ')}`);
  return clients.filter(({ name, folder, file }) =>
    names.length > 0 ? names.includes(name) : existsSync(folder) || existsSync(file),
  );
}

/**
 * @param origin scheme and host of the service
 * @param ask shows a question and returns whether the user agrees
 * @throws Error
 */
export async function setup(
  args: readonly string[],
  origin: string,
  ask: (question: string) => Promise<boolean> = agreed,
): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { yes: { type: 'boolean' }, 'dry-run': { type: 'boolean' } },
    allowPositionals: true,
  });
  const open = chosen(clientsOf(origin), positionals).filter(({ name, file, shown, add }) => {
    const added = add(textOf(file));
    if (added.type === 'present') print(`${name}: ${file} has it already`);
    if (added.type === 'refused') print(`${name}: ${file} is left as it is, because ${added.reason}`);
    if (added.type === 'added') print(`${name}: adds to ${file}\n${shown}`);
    return added.type === 'added';
  });
  if (open.length === 0) return void print('Nothing to write.');
  if (values['dry-run']) return void print('Dry run: nothing was written.');
  if (!values.yes && !(await ask('Write this? [y/N] '))) return void print('Nothing was written.');
  for (const { name, file, add } of open) {
    // Read again: a client may have written its file since.
    const added = add(textOf(file));
    if (added.type !== 'added') continue;
    write(file, added.text);
    print(`${name}: written. Restart it.`);
  }
}

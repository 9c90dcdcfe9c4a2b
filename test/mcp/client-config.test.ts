import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { openLegacy, type StdioProcess, startStdio, strayOutput } from './stdio-process.ts';

const README = readFileSync('README.md', 'utf8');
const SECTION = README.slice(README.indexOf('## For agents'), README.indexOf('## Run your own'));
const BLOCKS = [...SECTION.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text);
/** Where each client looks for its servers. */
const ROOTS = ['mcpServers', 'servers', 'context_servers'];

type Entry = { command: string; args: string[]; env: Record<string, string>; type?: string };

function entryOf(text: string): { root: string; entry: Entry } {
  const config = JSON.parse(text) as Record<string, Record<string, Entry>>;
  const [[root = '', servers = {}] = [], ...otherRoots] = Object.entries(config);
  const [entry, ...otherServers] = Object.values(servers);
  if (!entry || otherRoots.length + otherServers.length > 0) throw new Error('not one server');
  return { root, entry };
}

let server: StdioProcess | undefined;
afterEach(() => server?.kill('SIGKILL'));

it('the README has a snippet for each kind of client', () => {
  expect(BLOCKS.map((text) => entryOf(text).root)).toEqual(ROOTS);
  for (const client of [
    'Claude Desktop',
    'Claude Code',
    'Cursor',
    'Windsurf',
    'Gemini CLI',
    'Cline',
    'VS Code',
    'Zed',
  ])
    expect(SECTION).toContain(client);
});

describe.each(BLOCKS.map((text) => [entryOf(text).root, text] as const))(
  'the snippet under %s',
  (_root, text) => {
    it('starts a server with the five tools from wherever the client runs', async () => {
      const { entry } = entryOf(text);
      const args = entry.args.map((arg) => arg.replace('/path/to/sluice', process.cwd()));
      expect(args).not.toEqual(entry.args);
      server = startStdio(entry.command, args, entry.env, '/');
      await openLegacy(server);
      const { result } = await server.request('tools/list');
      expect((result as { tools: unknown[] }).tools).toHaveLength(5);
      server.closeInput();
      expect(await server.exited).toBe(0);
      expect(strayOutput(server.stdout())).toEqual([]);
    });
  },
);

it('the tarball that the README names is the one that is packed', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(SECTION).toContain(`sluice-mcp-${version}.tgz`);
});

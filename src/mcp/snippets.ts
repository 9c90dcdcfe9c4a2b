/**
 * Configuration of each MCP client: by URL if possible, otherwise by `npx`.
 * @module
 */

export type Snippet = {
  /** Clients that read this configuration. */
  readonly clients: string;
  /** File of the configuration, or the place to enter it. */
  readonly place: string;
  readonly language: 'json' | 'sh';
  readonly text: string;
};

/** Name of the server in a client's configuration. */
export const ENTRY_NAME = 'sluice';

/** @param origin scheme and host of the service */
export const stdioEntry = (origin: string) => ({
  command: 'npx',
  args: ['-y', 'sluice-mcp'],
  env: { API_BASE_URL: origin },
});

export const httpEntry = (origin: string) => ({ type: 'http', url: `${origin}/mcp` });
export const urlEntry = (origin: string) => ({ url: `${origin}/mcp` });

const file = (clients: string, place: string, section: string, entry: object): Snippet => ({
  clients,
  place,
  language: 'json',
  text: JSON.stringify({ [section]: { [ENTRY_NAME]: entry } }, undefined, 2),
});
const command = (clients: string, text: string): Snippet => ({
  clients,
  place: 'terminal',
  language: 'sh',
  text,
});

/**
 * Nothing to install. Claude, Claude Desktop and ChatGPT accept the URL itself, as a custom connector.
 * @param origin scheme and host of the service
 */
export function urlSnippets(origin: string): readonly Snippet[] {
  const url = `${origin}/mcp`;
  return [
    command('Claude Code', `claude mcp add --transport http ${ENTRY_NAME} ${url}`),
    command('Codex CLI', `codex mcp add ${ENTRY_NAME} --url ${url}`),
    file('Claude Code (a project)', '.mcp.json', 'mcpServers', httpEntry(origin)),
    file('Cursor', '~/.cursor/mcp.json', 'mcpServers', urlEntry(origin)),
    file('VS Code', '.vscode/mcp.json', 'servers', httpEntry(origin)),
    file('Windsurf', '~/.codeium/windsurf/mcp_config.json', 'mcpServers', { serverUrl: url }),
    file('Gemini CLI', '~/.gemini/settings.json', 'mcpServers', { httpUrl: url }),
    file('Cline', 'cline_mcp_settings.json', 'mcpServers', { type: 'streamableHttp', url }),
    file('Zed', 'settings.json', 'context_servers', urlEntry(origin)),
  ];
}

/**
 * The published package over stdio; requires Node 20 or newer. @param origin scheme and host of the service
 */
export const npxSnippets = (origin: string): readonly Snippet[] => [
  file(
    'Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI, Cline',
    'the file named above',
    'mcpServers',
    stdioEntry(origin),
  ),
  file('VS Code', '.vscode/mcp.json', 'servers', { type: 'stdio', ...stdioEntry(origin) }),
  file('Zed', 'settings.json', 'context_servers', stdioEntry(origin)),
];

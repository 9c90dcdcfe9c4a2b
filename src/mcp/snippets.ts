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

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
const stdio = (origin: string) => ({
  command: 'npx',
  args: ['-y', 'sluice-mcp'],
  env: { API_BASE_URL: origin },
});

/**
 * Nothing to install. Claude, Claude Desktop and ChatGPT accept the URL itself, as a custom connector.
 * @param origin scheme and host of the service
 */
export function urlSnippets(origin: string): readonly Snippet[] {
  const url = `${origin}/mcp`;
  return [
    {
      clients: 'Claude Code',
      place: 'terminal',
      language: 'sh',
      text: `claude mcp add --transport http sluice ${url}`,
    },
    { clients: 'Codex CLI', place: 'terminal', language: 'sh', text: `codex mcp add sluice --url ${url}` },
    {
      clients: 'Claude Code (a project)',
      place: '.mcp.json',
      language: 'json',
      text: json({ mcpServers: { sluice: { type: 'http', url } } }),
    },
    {
      clients: 'Cursor',
      place: '~/.cursor/mcp.json',
      language: 'json',
      text: json({ mcpServers: { sluice: { url } } }),
    },
    {
      clients: 'VS Code',
      place: '.vscode/mcp.json',
      language: 'json',
      text: json({ servers: { sluice: { type: 'http', url } } }),
    },
    {
      clients: 'Windsurf',
      place: '~/.codeium/windsurf/mcp_config.json',
      language: 'json',
      text: json({ mcpServers: { sluice: { serverUrl: url } } }),
    },
    {
      clients: 'Gemini CLI',
      place: '~/.gemini/settings.json',
      language: 'json',
      text: json({ mcpServers: { sluice: { httpUrl: url } } }),
    },
    {
      clients: 'Cline',
      place: 'cline_mcp_settings.json',
      language: 'json',
      text: json({ mcpServers: { sluice: { type: 'streamableHttp', url } } }),
    },
    {
      clients: 'Zed',
      place: 'settings.json',
      language: 'json',
      text: json({ context_servers: { sluice: { url } } }),
    },
  ];
}

/**
 * The published package over stdio; requires Node 20 or newer. @param origin scheme and host of the service
 */
export const npxSnippets = (origin: string): readonly Snippet[] => [
  {
    clients: 'Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI, Cline',
    place: 'the file named above',
    language: 'json',
    text: json({ mcpServers: { sluice: stdio(origin) } }),
  },
  {
    clients: 'VS Code',
    place: '.vscode/mcp.json',
    language: 'json',
    text: json({ servers: { sluice: { type: 'stdio', ...stdio(origin) } } }),
  },
  {
    clients: 'Zed',
    place: 'settings.json',
    language: 'json',
    text: json({ context_servers: { sluice: stdio(origin) } }),
  },
];

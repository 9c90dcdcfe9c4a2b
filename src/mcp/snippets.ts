/**
 * How to connect each MCP client to this server: the client's own command if it has one, otherwise an entry in its
 * configuration.
 * @module
 */

export type Snippet = {
  readonly client: string;
  /** File of the configuration, or `terminal`. */
  readonly place: string;
  readonly language: 'json' | 'sh';
  readonly text: string;
};

/** Name of the server in a client's configuration. */
const ENTRY_NAME = 'sluice';

const file = (client: string, place: string, section: string, entry: object): Snippet => ({
  client,
  place,
  language: 'json',
  text: JSON.stringify({ [section]: { [ENTRY_NAME]: entry } }, undefined, 2),
});
const command = (client: string, text: string): Snippet => ({
  client,
  place: 'terminal',
  language: 'sh',
  text,
});

/** @param origin scheme and host of the service */
export function snippetsFor(origin: string): readonly Snippet[] {
  const url = `${origin}/mcp`;
  const named = JSON.stringify({ name: ENTRY_NAME, type: 'http', url });
  return [
    command('Claude Code', `claude mcp add --transport http ${ENTRY_NAME} ${url}`),
    command('Codex CLI', `codex mcp add ${ENTRY_NAME} --url ${url}`),
    command('Gemini CLI', `gemini mcp add --transport http ${ENTRY_NAME} ${url}`),
    command('VS Code', `code --add-mcp '${named}'`),
    file('Cursor', '~/.cursor/mcp.json', 'mcpServers', { url }),
    file('Windsurf', '~/.codeium/windsurf/mcp_config.json', 'mcpServers', { serverUrl: url }),
    file('Cline', 'cline_mcp_settings.json', 'mcpServers', { type: 'streamableHttp', url }),
    file('Zed', 'settings.json', 'context_servers', { url }),
  ];
}

/**
 * What an agent's developer copies. The origin is the one that the page is served from.
 * @module
 */
export const UNKNOWN_ORIGIN = 'https://sluice.example';

const server = (origin: string) => ({
  command: 'npm',
  args: ['--prefix', '/path/to/sluice', 'run', '-s', 'mcp'],
  env: { API_BASE_URL: origin },
});
const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);

export const mcpServersJson = (origin: string): string => pretty({ mcpServers: { sluice: server(origin) } });

export const vsCodeJson = (origin: string): string =>
  pretty({ servers: { sluice: { type: 'stdio', ...server(origin) } } });

export const claudeCodeCommand = (origin: string): string =>
  `claude mcp add sluice --env API_BASE_URL=${origin} -- npm --prefix /path/to/sluice run -s mcp`;

export const curlLines = (origin: string): readonly { readonly name: string; readonly text: string }[] => [
  { name: 'What the reserve holds', text: `curl ${origin}/api/reserves` },
  { name: 'Bounds of a swap now', text: `curl ${origin}/api/swap/min` },
  {
    name: 'Rehearse a swap: nothing moves',
    text: `curl -X POST ${origin}/api/swap/create -H 'content-type: application/json' \\\n  -d '{"amountSol":0.5,"dry_run":true}'`,
  },
  {
    name: 'The real one: one key a swap, and only the call is repeated',
    text: `KEY=$(uuidgen)\ncurl -X POST ${origin}/api/swap/create -H 'content-type: application/json' \\\n  -H "idempotency-key: $KEY" -d '{"amountSol":0.5}'`,
  },
];

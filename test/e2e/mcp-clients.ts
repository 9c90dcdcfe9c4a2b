/** Clients of the MCP server like those of hosts: both SDKs, over stdio and over HTTP. */
import { join } from 'node:path';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { World } from '../world/world.ts';

const ENTRY = join(import.meta.dirname, '../../src/mcp/stdio.ts');

type Content = Record<string, unknown>;
type Result = {
  readonly isError: boolean;
  readonly structured: Content;
  readonly text: string;
};

export type McpClient = {
  tools(): Promise<string[]>;
  /** @param onProgress receives the message of each progress notification */
  call(name: string, given?: Content, onProgress?: (message: string) => void): Promise<Result>;
  close(): Promise<void>;
};

/** A tool's result, as returned by any client. */
function resultOf(given: unknown): Result {
  const { isError, structuredContent, content } = given as {
    isError?: boolean;
    structuredContent?: Content;
    content: { type: string; text: string }[];
  };
  return { text: content[0]?.text ?? '', isError: isError ?? false, structured: structuredContent ?? {} };
}

/** The environment of the stdio server. */
const environment = (world: World): Record<string, string> => ({
  API_BASE_URL: world.url,
  PROOF_EXPLORER_URLS: `${world.endpoints.esplora1}/api,${world.endpoints.esplora2}/api`,
  PROOF_RPC_URL: world.endpoints.rpc1,
});

const stdioServer = (world: World) => ({
  command: process.execPath,
  args: [ENTRY],
  env: environment(world),
  stderr: 'ignore' as const,
});

const addressed = (ip: string) => ({ requestInit: { headers: { 'x-world-client-ip': ip } } });
const endpoint = (world: World): URL => new URL('/mcp', world.url);

type SdkClient = ModernClient | OlderClient;

type Progress = { readonly onprogress?: (progress: { message?: string }) => void };
type CallTool = (called: { name: string; arguments: Content }, options: Progress) => Promise<unknown>;

function wrapped(client: SdkClient, callTool: CallTool): McpClient {
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given = {}, onProgress) => {
      const options = onProgress && { onprogress: ({ message = '' }) => onProgress(message) };
      return resultOf(await callTool({ name, arguments: given }, options ?? {}));
    },
    close: () => client.close(),
  };
}

export async function olderClient(world: World, over: 'stdio' | 'http', ip = '10.9.0.1'): Promise<McpClient> {
  const client = new OlderClient({ name: 'older', version: '1' });
  await client.connect(
    over === 'stdio' ? new OlderStdio(stdioServer(world)) : new OlderHttp(endpoint(world), addressed(ip)),
  );
  return wrapped(client, (called, options) => client.callTool(called, undefined, options));
}

/** @param mode the protocol: negotiated, or only the revision of 2026 */
export async function modernClient(
  world: World,
  over: 'stdio' | 'http',
  mode: 'auto' | { pin: string } = 'auto',
  ip = '10.9.0.2',
): Promise<McpClient> {
  const client = new ModernClient({ name: 'modern', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(
    over === 'stdio' ? new ModernStdio(stdioServer(world)) : new ModernHttp(endpoint(world), addressed(ip)),
  );
  return wrapped(client, (called, options) => client.callTool(called, options));
}

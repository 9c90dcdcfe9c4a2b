/**
 * The entry: `npm run -s mcp`, or the packed `sluice-mcp`. stdout carries protocol only; everything else goes to stderr.
 * Reads API_BASE_URL, the origin of the service.
 * @module
 */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createApi } from './api-client.ts';
import { createServer } from './server.ts';

const LAST_WORDS_MS = 100;
const DEFAULT_ORIGIN = 'http://127.0.0.1:8787';

// Whatever a library has to say, stdout belongs to the protocol.
console.log = console.info = console.debug = console.error;

const complain = (error: unknown): void =>
  console.error(`sluice-mcp: ${error instanceof Error ? error.message : String(error)}`);

/** Scheme, host and port of a URL. @throws Error when it is none */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.origin;
  throw new Error(`API_BASE_URL must be an http or https URL such as ${DEFAULT_ORIGIN}`);
}

function start(): void {
  const origin = originOf(process.env.API_BASE_URL || DEFAULT_ORIGIN);
  const api = createApi({ origin, fetch });
  const connection = serveStdio(() => createServer(api), { onerror: complain });
  /** What was written is let out first; sockets to the service do not keep this process. */
  const stop = (): void => {
    void connection.close().finally(() => setTimeout(() => process.exit(0), LAST_WORDS_MS).unref());
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  // A host that closes our stdin has gone: what is still under way has nobody to be told.
  process.stdin.once('end', stop);
}

process.on('uncaughtException', (error) => {
  complain(error);
  process.exit(1);
});

try {
  start();
} catch (error) {
  complain(error);
  process.exitCode = 1;
}

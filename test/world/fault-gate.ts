import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, text, type WorldRequest } from '../kit/transport.ts';
import type { FaultBook } from './fault-book.ts';
import type { RequestCounts } from './request-counts.ts';

export interface Upstream {
  readonly name: string;
  readonly url: string;
  stop(): Promise<void>;
}

export interface UpstreamOptions {
  readonly name: string;
  readonly faults: FaultBook;
  readonly counts: RequestCounts;
  /** Whether pages of any origin may call it, as with public explorers and nodes. */
  readonly openToPages?: boolean;
  /** Requests in a second above which it responds 429; absent: none. */
  readonly ratePerSecond?: number | undefined;
  /** Handles one request. An exception becomes a 500. */
  handle(request: WorldRequest): Answer | Promise<Answer>;
  /** Names a request for counts and fault matches; default `METHOD /path`. */
  label?(request: Omit<WorldRequest, 'label'>): string;
}

const page = (title: string): string =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Starts an HTTP server on a free loopback port; `stop` also ends connections that still wait. */
export async function listen(server: Server, port = 0): Promise<{ port: number; stop(): Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One upstream of the offline world: a loopback server that counts requests and simulates transport faults. */
export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const { name, faults, counts, openToPages = false, ratePerSecond = Number.POSITIVE_INFINITY } = options;
  let second = 0;
  let requests = 0;

  /** Counts a request. @returns whether this second has had more of them than the rate allows */
  function isTooMany(): boolean {
    const now = Math.floor(Date.now() / 1_000);
    requests = now === second ? requests + 1 : 1;
    second = now;
    return requests > ratePerSecond;
  }

  async function answer(incoming: IncomingMessage, out: ServerResponse): Promise<void> {
    if (openToPages) {
      out.setHeader('access-control-allow-origin', '*');
      if (incoming.method === 'OPTIONS') {
        out.writeHead(204, {
          'access-control-allow-headers': 'content-type',
          'access-control-max-age': '600',
        });
        return void out.end();
      }
    }
    const url = new URL(incoming.url ?? '/', 'http://world');
    const body = await read(incoming);
    const bare = {
      method: incoming.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body,
    };
    const label = options.label?.(bare) ?? `${bare.method} ${bare.path}`;
    const request: WorldRequest = { ...bare, label };
    const take = (kind: string) => faults.take(name, kind, label, `${bare.method} ${incoming.url}`);
    counts.add(name, label);

    const delay = take('delay');
    if (delay !== null) await sleep(delay.ms ?? 1000, undefined, { ref: false });
    if (take('hang') !== null) return;
    if (take('drop') !== null) return void incoming.socket.destroy();
    const limited = take('429');
    if (limited !== null || isTooMany()) {
      const seconds = String(limited?.retryAfterSeconds ?? 2);
      return send(out, {
        status: 429,
        headers: {
          'content-type': 'text/html',
          'retry-after': seconds,
          'ratelimit-limit': '75',
          'ratelimit-remaining': '0',
          'ratelimit-reset': seconds,
        },
        body: page('429 Too Many Requests'),
      });
    }
    if (take('500') !== null) return send(out, text(500, 'Internal Server Error'));
    if (take('html') !== null)
      return send(out, { status: 200, headers: { 'content-type': 'text/html' }, body: page('Maintenance') });

    const result = await options.handle(request);
    if (take('truncate') !== null)
      return send(out, { ...result, body: result.body.slice(0, Math.floor(result.body.length / 2)) });
    send(out, result);
  }

  const server = createServer((incoming, out) => {
    answer(incoming, out).catch((error: unknown) => {
      if (out.headersSent || out.destroyed) return void out.destroy();
      send(out, text(500, error instanceof Error ? (error.stack ?? error.message) : String(error)));
    });
  });
  server.keepAliveTimeout = 60_000;
  const { port, stop } = await listen(server);
  return { name, url: `http://127.0.0.1:${port}`, stop };
}

function send(out: ServerResponse, answer: Answer): void {
  out.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.body) });
  out.end(answer.body);
}

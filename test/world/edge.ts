import {
  Agent,
  createServer,
  request as forward,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { listen } from './fault-gate.ts';

export interface Edge {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Sets the caller's address in tests, which all come from loopback. */
const CLIENT_IP_HEADER = 'x-world-client-ip';

/**
 * What stands in front of a Worker: it alone says who the caller is (CF-Connecting-IP), and answers 502 while the
 * Worker is down. Everything else passes through as it comes.
 */
export async function startEdge(options: { port: number; target: () => string | null }): Promise<Edge> {
  const agent = new Agent({ keepAlive: true });

  function pass(incoming: IncomingMessage, out: ServerResponse): void {
    const target = options.target();
    if (target === null) {
      fail(out);
      return;
    }
    const { [CLIENT_IP_HEADER]: named, 'cf-connecting-ip': _claimed, ...headers } = incoming.headers;
    const peer = incoming.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '127.0.0.1';
    const upstream = forward(
      new URL(incoming.url ?? '/', target).href,
      {
        agent,
        method: incoming.method,
        headers: { ...headers, 'cf-connecting-ip': typeof named === 'string' ? named : peer },
      },
      (answer) => {
        out.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(out);
        answer.on('error', () => out.destroy());
      },
    );
    upstream.on('error', () => (out.headersSent ? out.destroy() : fail(out)));
    out.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  }

  const { port, stop } = await listen(createServer(pass), options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      await stop();
      agent.destroy();
    },
  };
}

function fail(out: ServerResponse): void {
  out.writeHead(502, { 'content-type': 'text/plain' });
  out.end('Bad gateway: the Worker is down\n');
}

import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  createServer,
  request as forward,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from './fault-gate.ts';
import { PICTURES } from './pictures.ts';

export interface Edge {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Sets the caller's address in tests, which all come from loopback. */
const CLIENT_IP_HEADER = 'x-world-client-ip';

/** Bytes of a large body after which the edge waits for an early response: the service sends one for each such body. */
const PROBE_BYTES = 32 * 1024;
const PROBE_WAIT_MS = 30_000;
const IDLE_MS = 60_000;

/**
 * A proxy in front of a Worker. It sets the caller's address (CF-Connecting-IP) and returns 502 while the
 * Worker is down. It passes everything else on unchanged.
 */
export async function startEdge(options: { port: number; target: () => string | null }): Promise<Edge> {
  // Each request has a connection of its own: workerd may close an idle one in the moment of its reuse.
  const agent = new Agent({ keepAlive: false });

  function pass(incoming: IncomingMessage, out: ServerResponse): void {
    const target = options.target();
    if (target === null) {
      fail(out);
      return;
    }
    const picture = PICTURES[incoming.url ?? ''];
    if (picture !== undefined) {
      out.writeHead(200, { 'content-type': 'image/svg+xml' }).end(picture);
      return;
    }
    const { [CLIENT_IP_HEADER]: named, 'cf-connecting-ip': _claimed, ...headers } = incoming.headers;
    const peer = incoming.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '127.0.0.1';
    const { hostname, port } = new URL(target);
    // Passes the path unchanged: if it begins with two slashes, they do not begin a host.
    const upstream = forward({
      hostname,
      port,
      path: incoming.url ?? '/',
      agent,
      method: incoming.method,
      headers: { ...headers, 'cf-connecting-ip': typeof named === 'string' ? named : peer },
    });
    upstream.on('response', (answer) => {
      out.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(out);
      answer.on('error', () => out.destroy());
      answer.on('end', () => {
        if (!upstream.writableEnded) upstream.destroy();
      });
    });
    upstream.on('error', () => (out.headersSent ? out.destroy() : fail(out)));
    out.on('close', () => {
      if (!out.writableFinished) upstream.destroy();
    });
    upload(incoming, upstream).catch(() => upstream.destroy());
  }

  const server = createServer(pass);
  // A client on a busy machine must not reuse a connection in the moment in which this side closes it.
  server.keepAliveTimeout = IDLE_MS;
  const { port, stop } = await listen(server, options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      await stop();
      agent.destroy();
    },
  };
}

// If too much of a body arrives after workerd has responded, workerd closes the connection and the response is lost.
// The platform's edge does not. This edge therefore delays a large body while an early response may arrive. After such
// a response it reads the rest of the body without passing it on.
async function upload(incoming: IncomingMessage, upstream: ClientRequest): Promise<void> {
  const settled = Promise.race([once(upstream, 'response'), once(upstream, 'close')]).then(
    () => true,
    () => true,
  );
  let answered = false;
  void settled.then(() => {
    answered = true;
  });
  let sent = 0;
  let held = false;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length && !answered; at += PROBE_BYTES) {
      if (sent >= PROBE_BYTES && !held) {
        held = true;
        await Promise.race([settled, sleep(PROBE_WAIT_MS, undefined, { ref: false })]);
        if (answered) break;
      }
      const piece = chunk.subarray(at, at + PROBE_BYTES);
      sent += piece.length;
      if (!upstream.write(piece)) await Promise.race([once(upstream, 'drain'), settled]);
    }
  }
  if (!answered) upstream.end();
}

function fail(out: ServerResponse): void {
  out.writeHead(502, { 'content-type': 'text/plain' });
  out.end('Bad gateway: the Worker is down\n');
}

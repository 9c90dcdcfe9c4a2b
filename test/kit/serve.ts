import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../world/fault-gate.ts';

/** Starts an HTTP server on a free loopback port. */
export async function serve(listener: RequestListener) {
  const { port, stop } = await listen(createServer(listener));
  return { url: `http://127.0.0.1:${port}`, port, stop };
}

/** A webhook of the operator, and the text of each message that it got. */
export async function startWebhook() {
  const messages: string[] = [];
  const server = await serve(async (request, response) => {
    messages.push(await text(request));
    response.end('ok');
  });
  return { ...server, messages };
}

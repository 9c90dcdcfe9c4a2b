/**
 * GET and POST over persistent connections with minimal overhead: a client library would cost more than what
 * it measures.
 * @module
 */
import { connect, type Socket } from 'node:net';
import { median } from './row.ts';

/** Status and end of the answer at the start of `text`; undefined while it is incomplete. */
function answerIn(text: string): { readonly status: number; readonly end: number } | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const status = Number(text.slice(9, 12));
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2))?.[1];
  const chunked = length === undefined && /\r\ntransfer-encoding: chunked/i.test(text.slice(0, head + 2));
  if (chunked) {
    const last = text.indexOf('\r\n0\r\n\r\n', head);
    return last < 0 ? undefined : { status, end: last + 7 };
  }
  const end = head + 4 + Number(length ?? 0);
  return text.length < end ? undefined : { status, end };
}

function openLane(url: URL) {
  const socket: Socket = connect(Number(url.port), url.hostname).setNoDelay(true).setEncoding('latin1');
  let text = '';
  let waiting: ((status: number) => void) | undefined;
  let failed: ((error: Error) => void) | undefined;
  socket.on('data', (chunk) => {
    text += String(chunk);
    const answer = answerIn(text);
    if (!answer) return;
    text = text.slice(answer.end);
    waiting?.(answer.status);
  });
  socket.on('error', (error) => failed?.(error));
  socket.on('close', () => failed?.(new Error(`${url.host} closed the connection`)));
  return {
    ask: (request: string): Promise<number> =>
      new Promise((resolve, reject) => {
        waiting = resolve;
        failed = reject;
        socket.write(request);
      }),
    close(): void {
      failed = undefined;
      socket.destroy();
    },
  };
}

export function openClient(connections: number) {
  const lanes = new Map<string, ReturnType<typeof openLane>[]>();
  const lanesTo = (url: URL): ReturnType<typeof openLane>[] => {
    const known = lanes.get(url.host) ?? Array.from({ length: connections }, () => openLane(url));
    lanes.set(url.host, known);
    return known;
  };
  let callers = 0;
  /** A different address each time, so that no limit per address applies. */
  function requestFor(url: URL, body?: string): string {
    callers += 1;
    const ip = `10.${(callers >> 16) & 255}.${(callers >> 8) & 255}.${callers & 255}`;
    const head = `${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\ncf-connecting-ip: ${ip}\r\n`;
    if (body === undefined) return `GET ${head}\r\n`;
    return `POST ${head}user-agent: Mozilla/5.0 bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  }

  /** Answers per second over all connections; POST requests if ASCII bodies are given. */
  async function rate(address: string, forMs: number, body?: () => string): Promise<number> {
    const url = new URL(address);
    const until = performance.now() + forMs;
    let done = 0;
    const began = performance.now();
    await Promise.all(
      lanesTo(url).map(async (lane) => {
        for (; performance.now() < until; done += 1) {
          const status = await lane.ask(requestFor(url, body?.()));
          if (status >= 429) throw new Error(`${address}: ${status}`);
        }
      }),
    );
    return (done * 1_000) / (performance.now() - began);
  }

  return {
    rate,
    /** Status of one answer. */
    get: (address: string): Promise<number> => {
      const url = new URL(address);
      const [lane] = lanesTo(url);
      if (!lane) throw new Error('no connection');
      return lane.ask(requestFor(url));
    },
    async steady(address: string, forMs: number, rounds: number): Promise<number> {
      const rates: number[] = [];
      for (let round = 0; round < rounds; round += 1) rates.push(await rate(address, forMs));
      return median(rates);
    },
    close: (): void => {
      for (const lane of [...lanes.values()].flat()) lane.close();
    },
  };
}

/**
 * GET and POST over persistent connections with minimal overhead: a client library would cost more than what
 * it measures.
 * @module
 */
import { connect, type Socket } from 'node:net';
import { median } from './row.ts';

const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Status of one response and, for each piece of its body, whether the body is complete. */
type Reading = { readonly status: number; readonly endsWith: (piece: Buffer) => boolean };

/** @param head of a response, without its empty line */
function readingOf(head: string): Reading {
  const status = Number(head.slice(9, 12));
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    let tail = '\r\n';
    return {
      status,
      endsWith(piece) {
        tail = (tail + piece.subarray(-LAST_CHUNK.length).toString('latin1')).slice(-LAST_CHUNK.length);
        return tail === LAST_CHUNK;
      },
    };
  }
  let left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return {
    status,
    endsWith(piece) {
      left -= piece.length;
      return left <= 0;
    },
  };
}

/** One connection with one request at a time. A body is only counted, so that its size costs the client little. */
function openLane(url: URL) {
  let head = Buffer.alloc(0);
  let reading: Reading | undefined;
  let waiting: ((status: number) => void) | undefined;
  let failed: ((error: Error) => void) | undefined;
  function take(chunk: Buffer): void {
    let piece = chunk;
    if (!reading) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      reading = readingOf(head.toString('latin1', 0, end));
      piece = head.subarray(end + 4);
    }
    if (!reading.endsWith(piece)) return;
    const { status } = reading;
    head = Buffer.alloc(0);
    reading = undefined;
    waiting?.(status);
  }
  const socket: Socket = connect({
    host: url.hostname,
    port: Number(url.port),
    noDelay: true,
    onread: {
      // Reused for every piece.
      buffer: Buffer.alloc(65_536),
      callback(bytes, buffer) {
        take(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
        return true;
      },
    },
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

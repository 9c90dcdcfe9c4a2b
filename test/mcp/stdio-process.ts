import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { serve } from '../kit/serve.ts';

type Message = Readonly<Record<string, unknown>>;

export interface StdioProcess {
  /** Writes text unchanged to the server's stdin. */ write(text: string): void;
  /** Sends a request and returns the message with its id. */
  request(method: string, params?: unknown): Promise<Message>;
  notify(method: string, params?: unknown): void;
  closeInput(): void;
  kill(signal: NodeJS.Signals): void;
  /** Exit code once it has ended, null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** All bytes of stdout, as text. */
  stdout(): string;
  stderr(): string;
}

/** Starts a stdio server; every line of its stdout is stored. */
export function startStdio(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd?: string,
): StdioProcess {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const waiting = new Map<number, (message: Message) => void>();
  let out = '';
  let err = '';
  let lastId = 0;
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString('utf8');
  });
  child.stderr.on('data', (data: Buffer) => {
    err += data.toString('utf8');
  });
  // A write after the end of the process fails, which does not matter to any test.
  child.stdin.on('error', () => undefined);
  createInterface(child.stdout).on('line', (line) => {
    if (!line.startsWith('{')) return;
    const message = JSON.parse(line) as Message;
    if (typeof message.id === 'number') waiting.get(message.id)?.(message);
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    write: (text) => void child.stdin.write(text),
    request(method, params) {
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, resolve);
        void exited.then((code) =>
          reject(new Error(`ended with ${code} before it answered ${method}: ${err}`)),
        );
        send({ id, method, ...(params === undefined ? {} : { params }) });
      });
    },
    notify: (method, params) => void send({ method, ...(params === undefined ? {} : { params }) }),
    closeInput: () => child.stdin.end(),
    kill: (signal) => void child.kill(signal),
    exited,
    stdout: () => out,
    stderr: () => err,
  };
}

/** Lines on stdout that are not exactly one JSON-RPC message. */
export function strayOutput(stdout: string): string[] {
  const lines = stdout.split('\n');
  const rest = lines.pop();
  return [...lines, ...(rest ? [rest] : [])].filter((line) => {
    try {
      return Reflect.get(JSON.parse(line) as object, 'jsonrpc') !== '2.0';
    } catch {
      return true;
    }
  });
}

/** A 2025 client's first two messages. */
export async function openLegacy(server: StdioProcess): Promise<Message> {
  const answer = await server.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  server.notify('notifications/initialized');
  return answer;
}

/** An HTTP service on loopback with one answer for each path; anything else is a 404 without a body. */
export const startApi = (answers: Readonly<Record<string, { status?: number; body: unknown }>>) =>
  serve((request, response) => {
    const found = answers[(request.url ?? '').split('?')[0] ?? ''];
    response.writeHead(found ? (found.status ?? 200) : 404, { 'content-type': 'application/json' });
    const body = found?.body ?? '';
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });

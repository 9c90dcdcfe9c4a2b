/** A JSON-RPC node that forwards every call to another one, and changes the results while it lies. */
import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { listen } from '../world/fault-gate.ts';

/** @returns the node's result in place of `result` */
export type Lie = (method: string, params: readonly unknown[], result: unknown) => unknown;

type Message = { readonly method?: unknown; readonly params?: unknown };

export type LyingNode = Awaited<ReturnType<typeof startLyingNode>>;

export async function startLyingNode() {
  const state = { target: '', lie: undefined as Lie | undefined };

  async function answer(body: string): Promise<{ status: number; text: string }> {
    const response = await fetch(state.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const text = await response.text();
    const { method, params } = JSON.parse(body) as Message;
    const { lie } = state;
    if (!lie || typeof method !== 'string' || !response.ok) return { status: response.status, text };
    const envelope = JSON.parse(text) as { result?: unknown };
    if (!('result' in envelope)) return { status: 200, text };
    const result = lie(method, Array.isArray(params) ? params : [], envelope.result);
    return { status: 200, text: JSON.stringify({ ...envelope, result }) };
  }

  const server = createServer(async (request, response) => {
    const sent = await readText(request);
    const { status, text } = await answer(sent).catch((error: unknown) => ({
      status: 503,
      text: String(error),
    }));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(text);
  });
  const { port, stop } = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    forwardTo: (target: string): void => void Object.assign(state, { target }),
    tell: (lie: Lie | undefined): void => void Object.assign(state, { lie }),
    stop,
  };
}

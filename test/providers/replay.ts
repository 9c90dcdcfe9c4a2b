/** A fetch over a table of responses; a request without a recorded response throws. */
import type { Fetch } from '../../src/providers/http.ts';
import { envelope, inContext, type RpcError } from '../world/solana-shapes.ts';

export type Recorded = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent unchanged, anything else as JSON. */
  readonly body: unknown;
};

export type Request = {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
};

export type Replay = { readonly fetch: Fetch; readonly requests: Request[] };

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

/**
 * @param answers by `GET https://host/path`, or `POST https://host/path method` for JSON-RPC. A list is answered in
 *                order, its last entry forever; an Error is a connection that fails.
 */
export function replay(answers: Readonly<Record<string, Recorded | Error | (Recorded | Error)[]>>): Replay {
  const requests: Request[] = [];
  const asked = new Map<string, number>();
  const fetch: Fetch = async (url, init) => {
    const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
    const method = init?.method ?? 'GET';
    requests.push({ method, url, headers: new Headers(init?.headers), body });
    const rpc = typeof body === 'object' && body !== null ? Reflect.get(body, 'method') : undefined;
    const key = [`${method} ${url} ${String(rpc)}`, `${method} ${url}`].find((name) => name in answers);
    const found = key === undefined ? undefined : answers[key];
    if (key === undefined || found === undefined) throw new Error(`no recorded answer for ${method} ${url}`);
    const turn = asked.get(key) ?? 0;
    asked.set(key, turn + 1);
    const answer = Array.isArray(found) ? (found[turn] ?? found.at(-1)) : found;
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no answer');
    return new Response(textOf(answer.body), {
      status: answer.status ?? 200,
      ...(answer.headers ? { headers: { ...answer.headers } } : {}),
    });
  };
  return { fetch, requests };
}

/** The page that mempool.space returns when its rate limit is exceeded. */
export const HTML_429: Recorded = {
  status: 429,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>429 Too Many Requests</title></head><body>Mempool Enterprise</body></html>',
};

/** Responses of Solana nodes. */
export const result = (value: unknown): Recorded => ({ body: envelope({ result: value }) });
export const refusal = (error: RpcError): Recorded => ({ body: envelope({ error }) });
export const resultAt = (value: unknown, slot = 100): Recorded => result(inContext(value, slot));

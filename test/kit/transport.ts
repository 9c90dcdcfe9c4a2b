/** What a model of an upstream is asked and answers, and a fetch that calls a model in this process. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Fetch } from '../../src/providers/http.ts';

export interface WorldRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The name by which faults match requests and by which requests are counted. */
  readonly label: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

export const text = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});

/** A fetch whose responses come from a model. It waits for nothing but the model. */
export const transport =
  (handle: (request: WorldRequest) => Answer | Promise<Answer>): Fetch =>
  async (url, init) => {
    const { pathname: path, searchParams: query } = new URL(url);
    const method = init?.method ?? 'GET';
    // The clients give their headers as an object with names in lower case.
    const headers = { ...init?.headers } as IncomingHttpHeaders;
    const label = `${method} ${path}`;
    const answer = await handle({ method, path, query, headers, body: String(init?.body ?? ''), label });
    return new Response(answer.body, answer);
  };

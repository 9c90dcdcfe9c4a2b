import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { faults, fields, type Shape } from './shape.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
};

/** One row of a table of the contract: a request, the status it must have, the fields of its body. */
export type Row = {
  readonly row: string;
  /** `GET /api/reserves`, or with what an earlier answer gave. */
  readonly request: string | ((stage: Stage) => string | Promise<string>);
  readonly body?: unknown | ((stage: Stage) => unknown);
  readonly status: number;
  readonly shape?: Shape;
  readonly also?: (answer: Answer, stage: Stage) => void | Promise<void>;
};

export type Stage = {
  readonly world: World;
  call(request: string, body?: unknown): Promise<Answer>;
  /** Reads until it is so. */
  until(request: string, done: (body: Record<string, unknown>) => boolean): Promise<Answer>;
};

/** The contract's error body: two members for sure, the third may be there. */
export const errorBody = (code?: string): Shape =>
  fields({ error_code: code === undefined ? 'string' : { oneOf: [code] }, error: 'string' });

/** Runs every row of one table against a service on a world of its own. A row is its test: none can be without. */
export function contractTable(rows: readonly Row[], options: Parameters<typeof startWorld>[0] = {}): void {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ cron: false, ...options });
  });
  afterAll(() => world?.stop());

  const stage: Stage = {
    get world() {
      return world;
    },
    async call(request, body) {
      const [method = 'GET', path = '/'] = request.split(' ');
      const json = { 'content-type': 'application/json' };
      const init = body === undefined ? { method } : { method, headers: json, body: JSON.stringify(body) };
      const response = await world.fetch(path, { ...init, redirect: 'manual' });
      const text = await response.text();
      const parsed = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
      return { status: response.status, headers: response.headers, body: parsed };
    },
    async until(request, done) {
      for (let tries = 0; ; tries++) {
        const answer = await stage.call(request);
        if (done(answer.body)) return answer;
        if (tries > 400) throw new Error(`${request} stays ${JSON.stringify(answer.body).slice(0, 300)}`);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
  };

  it.each(rows.map((row) => [row.row, row] as const))(
    '%s',
    async (_name, { request, body, status, shape, also }) => {
      const line = typeof request === 'function' ? await request(stage) : request;
      const sent = typeof body === 'function' ? await (body as (stage: Stage) => unknown)(stage) : body;
      const answer = await stage.call(line, sent);
      expect(`${answer.status} ${JSON.stringify(answer.body.error_code ?? '')}`).toMatch(
        new RegExp(`^${status} `),
      );
      if (shape) expect(faults(answer.body, shape)).toEqual([]);
      await also?.(answer, stage);
    },
  );
}

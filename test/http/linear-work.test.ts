/**
 * The work that a request costs before a limit counts it grows with the length of the request, and not faster. Each
 * pair of measurements runs side by side in one process; a quadratic step makes four times the input cost sixteen times.
 *
 * @module-tag deep
 */
import { expect, it } from 'vitest';
import { createApp, type Deps } from '../../src/app.ts';
import { addressKey } from '../../src/core/client-network.ts';
import { isCrawler, readIp, visitorOf } from '../../src/features/analytics/count-pageview.ts';
import { jsonBody } from '../../src/http/body.ts';
import { requestKey } from '../../src/http/idempotency.ts';
import { emptyIsAbsent } from '../../src/http/params.ts';
import { asAppError, problemResponse } from '../../src/http/problem.ts';
import { newRouter } from '../../src/http/router.ts';
import { preferredWaitMs } from '../../src/http/wait.ts';

const SHORT = 3_800;
const LONG = 4 * SHORT;
/** Linear work has 4, quadratic work 16. */
const MOST = 10;
/** A measurement runs at least this long, so that the clock's resolution hardly changes it. */
const BATCH_MS = 1;
const ROUNDS = 4;
/** Work below this length of time is lost in the cost of an empty request. */
const LEAST_MS = 0.05;

type Work = (text: string) => unknown;

/** Milliseconds of processor time that this thread has used: other processes do not add to it. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds of one call, the best of some batches. */
async function cost(work: Work, text: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const started = processorMs();
    let calls = 0;
    for (; calls === 0 || processorMs() - started < BATCH_MS; calls++) await work(text);
    best = Math.min(best, (processorMs() - started) / calls);
  }
  return best;
}

/** Pieces that fill a text, because each of them is special to some parser. */
const PIECES = [
  ...String.raw`a ? & = a& &a= a=& a=1& % %2 %25 %fe& + . / // , ; ( [ [] { " \ \" "\ "," wait=1, */*, a/b;q=1,`.split(
    ' ',
  ),
  ...'gzip;q=0, W/"a", * - : :: 0 1. bot http x+ __proto__=1& %e2%82%ac'.split(' '),
  ...[' ', ', ', 'a=b; '],
];
const filled = (piece: string, length: number): string =>
  piece.repeat(length / piece.length).slice(0, length);
/** Texts without a repeated piece. */
const names = (length: number): string =>
  Array.from({ length: length / 2 }, (_, n) => n.toString(36))
    .join('&')
    .slice(0, length);
const FORMS: readonly (readonly [name: string, make: (length: number) => string])[] = [
  ...PIECES.map((piece) => [piece, (length: number) => filled(piece, length)] as const),
  ['distinct names', names],
  ['? and a value', (length) => `${filled('?', length - 2)}=x`],
];

const silent = { log: () => undefined } as unknown as Deps;
const service = createApp(() => silent);
const HEADERS = [
  ...'accept accept-encoding authorization cache-control cf-connecting-ip content-type cookie origin prefer'.split(
    ' ',
  ),
  ...'idempotency-key if-none-match user-agent x-data-bookmark x-forwarded-for x-request-id'.split(' '),
];

const router = () => {
  const app = newRouter();
  app.onError((error, c) => problemResponse(c, asAppError(error)));
  return app;
};
const queries = router()
  .use(emptyIsAbsent)
  .get('/', (c) => c.json(c.req.queries()));
const bodies = router().post('/', jsonBody, async (c) => c.json(await c.req.json()));
const keys = router().get('/', (c) => c.json(requestKey(c, 'route', {}) ?? null));
const post = (body: string) =>
  bodies.request('/', { method: 'POST', headers: { 'content-type': 'application/json' }, body });

const WORK: Readonly<Record<string, Work>> = {
  'a request with a query': (text) => service.request(`/none?${text}`),
  'a request with a path': (text) => service.request(`/none/${text}`),
  'a request with every header': (text) =>
    service.request('/none', { headers: Object.fromEntries(HEADERS.map((name) => [name, text])) }),
  'the query as parameters': (text) => queries.request(`/?${text}`),
  'the Prefer header': preferredWaitMs,
  'an Idempotency-Key': (text) => keys.request('/', { headers: { 'idempotency-key': text } }),
  'an address': (text) => [readIp(text), addressKey(text)],
  'a user agent': (text) => [isCrawler(text), visitorOf(null, text)],
  'a body of this text': post,
  'a body with this text in JSON': (text) => post(JSON.stringify({ text })),
  'a nested body': (text) => post(`{"a":${filled(`[${text.slice(0, 3)}`, text.length)}`),
};

it.each(Object.entries(WORK))(
  '%s costs at most in proportion to its length',
  { timeout: 120_000 },
  async (_name, work) => {
    const steep: string[] = [];
    for (const [name, make] of FORMS) {
      const [short, long] = [make(SHORT), make(LONG)];
      await work(short);
      const ratio = async () => (await cost(work, long)) / Math.max(await cost(work, short), LEAST_MS);
      // A pause of the machine can spoil one measurement, but not a second one in the same way.
      if ((await ratio()) > MOST && (await ratio()) > MOST) steep.push(name);
    }
    expect(steep).toEqual([]);
  },
);

it('a query of 15.5 KB costs at most twice as much as plain text of that length, whatever its content', async () => {
  const ask: Work = (query) => service.request(`/none?${query}`);
  const plain = await cost(ask, filled('a', 15_500));
  for (const [name, make] of FORMS) {
    const most = 2 * Math.max(plain, LEAST_MS);
    const form = make(15_500);
    if ((await cost(ask, form)) > most) expect(await cost(ask, form), name).toBeLessThan(most);
  }
});

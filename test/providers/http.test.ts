import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ask, type Fetch, getJson, postJson, shaped } from '../../src/providers/http.ts';
import { eachRow } from '../kit/scenes.ts';
import { HTML_429, type Recorded, replay } from './replay.ts';

/** The largest response that is read. */
const MAX_UPSTREAM_BYTES = 2 * 1024 * 1024;

const URL = 'https://key@upstream.test/secret-key/path?api-key=secret';
const Shape = z.object({ ok: z.boolean() });
const GOOD: Recorded = { body: { ok: true } };

const get = (answers: Recorded | Error | (Recorded | Error)[]) => {
  const upstream = replay({ [`GET ${URL}`]: answers });
  const read = getJson({ fetch: upstream.fetch, upstream: 'up', url: URL }, Shape);
  return { read, requests: upstream.requests };
};

it('a request has our headers, and a response in the documented shape is read', async () => {
  const { read, requests } = get(GOOD);
  expect(await read).toEqual({ ok: true });
  expect(requests).toHaveLength(1);
  expect(requests[0]?.headers.get('accept')).toBe('application/json');
  expect(requests[0]?.headers.get('user-agent')).toBe('sluice');
  expect(requests[0]?.headers.get('content-type')).toBeNull();
});

it('a POST has the JSON content type', async () => {
  const { fetch, requests } = replay({ [`POST ${URL}`]: GOOD });
  await postJson({ fetch, upstream: 'up', url: URL, body: { a: 1 } }, Shape);
  expect(requests[0]).toMatchObject({ method: 'POST', body: { a: 1 } });
  expect(requests[0]?.headers.get('content-type')).toBe('application/json');
});

it('integers above 2^53 keep their digits', () => {
  const answer = { status: 200, headers: new Headers(), text: '{"n":18446744073709551615}' };
  expect(shaped('up', answer, z.object({ n: z.unknown() })).n).toEqual({ source: '18446744073709551615' });
});

eachRow<[name: string, answer: Recorded | 'broken' | 'html429', reason: string, requests: number]>(`
  a connection that fails | broken                                                                              | unreachable      | 2
  an HTML page with 429   | html429                                                                             | rate_limited     | 1
  a JSON body with 429    | { "status": 429, "body": { "ok": true } }                                           | rate_limited     | 1
  status 500              | { "status": 500, "body": { "ok": true } }                                           | status_500       | 2
  status 503              | { "status": 503, "body": "" }                                                       | status_503       | 2
  status 404              | { "status": 404, "body": "Not found" }                                              | status_404       | 1
  a redirect              | { "status": 302, "headers": { "location": "/else" } } | status_302       | 1
  HTML with 200           | { "body": "<html>welcome</html>" }                                                  | not_json         | 2
  truncated JSON          | { "body": "{\\"ok\\":tr" }                                                          | not_json         | 2
  no body                 | { "body": "" }                                                                      | not_json         | 2
  two documents           | { "body": "{\\"ok\\":true}{\\"ok\\":true}" }                                        | not_json         | 2
  another shape           | { "body": { "fine": true } }                                                        | unexpected_shape | 1
  a list                  | { "body": [{ "ok": true }] }                                                        | unexpected_shape | 1
  null                    | { "body": null }                                                                    | unexpected_shape | 1
  a wrong type            | { "body": { "ok": "true" } }                                                        | unexpected_shape | 1
`)('a read fails after %s, and is repeated only if that may help', async (_name, answer, ...expected) => {
  const [reason, count] = expected;
  const given =
    answer === 'broken' ? new TypeError('fetch failed') : answer === 'html429' ? HTML_429 : answer;
  const { read, requests } = get(given);
  await expect(read).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    details: { upstream: 'up', reason },
  });
  expect(requests).toHaveLength(count);
  // A success after the first failure counts only if the request is repeated.
  const second = get([given, GOOD]).read.catch(() => 'failed');
  expect(await second).toEqual(count === 2 ? { ok: true } : 'failed');
});

it('neither the message nor the details of an error contain the URL, which may contain keys', async () => {
  const error: unknown = await get(new TypeError(`cannot reach ${URL}`)).read.catch((e: unknown) => e);
  const { message, details } = error as { message: string; details: unknown };
  expect(JSON.stringify({ message, details })).not.toMatch(/secret|upstream\.test/);
});

it('a POST is never repeated, because the first may have taken effect', async () => {
  for (const first of [new TypeError('fetch failed'), { status: 503, body: '' }, { body: '<html>' }]) {
    const { fetch, requests } = replay({ [`POST ${URL}`]: [first, GOOD] });
    await expect(postJson({ fetch, upstream: 'up', url: URL }, Shape)).rejects.toThrow();
    expect(requests).toHaveLength(1);
  }
});

describe('size', () => {
  const stream = (chunks: Iterable<Uint8Array>, onCancel = () => {}): Fetch => {
    const source = chunks[Symbol.iterator]();
    return async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            const { done, value } = source.next();
            if (done) controller.close();
            else controller.enqueue(value);
          },
          cancel: onCancel,
        }),
      );
  };

  it('a response of 2 MiB is read, and one that is a byte longer is refused', async () => {
    const ok = await ask({ fetch: stream([new Uint8Array(MAX_UPSTREAM_BYTES)]), upstream: 'up', url: URL });
    expect(ok.text).toHaveLength(MAX_UPSTREAM_BYTES);
    const tooLarge = stream([new Uint8Array(MAX_UPSTREAM_BYTES), new Uint8Array(1)]);
    const refused = ask({ fetch: tooLarge, upstream: 'up', url: URL });
    await expect(refused).rejects.toMatchObject({ details: { reason: 'too_large' } });
  });

  it('an endless response body is cancelled, regardless of its announced length', async () => {
    let cancelled = false;
    function* endless() {
      for (;;) yield new Uint8Array(64 * 1024);
    }
    const fetch = stream(endless(), () => {
      cancelled = true;
    });
    const refused = ask({ fetch, upstream: 'up', url: URL });
    await expect(refused).rejects.toMatchObject({ details: { reason: 'too_large' } });
    expect(cancelled).toBe(true);
  });

  it('reads a character that is split between chunks', async () => {
    const bytes = new TextEncoder().encode('"€"');
    const fetch = stream([...bytes].map((byte) => Uint8Array.of(byte)));
    const answer = await ask({ fetch, upstream: 'up', url: URL });
    expect(answer.text).toBe('"€"');
  });
});

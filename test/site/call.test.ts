import { afterEach, describe, expect, it, vi } from 'vitest';
import { CallFailed, call, failureFrom, failureOf } from '../../site/api/call.ts';
import { ERRORS } from '../../src/app.ts';

afterEach(() => vi.unstubAllGlobals());

/** The network as the page meets it. */
function answering(answer: () => Promise<Response>) {
  const sent: { url: string; init: RequestInit }[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    sent.push({ url, init });
    return answer();
  });
  return sent;
}

const failed = async (path: string) => {
  const thrown = await call(path).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(CallFailed);
  return failureFrom(thrown);
};

it('a call that spends carries its key and its body, and nothing that tells who asks', async () => {
  const sent = answering(async () => Response.json({ ok: true }));
  await call('/api/swap/create', { body: { amountSol: '0.5' }, idempotencyKey: '0123456789abcdef' });
  expect(sent[0]?.init).toMatchObject({
    method: 'POST',
    credentials: 'omit',
    body: '{"amountSol":"0.5"}',
    headers: { 'idempotency-key': '0123456789abcdef', 'content-type': 'application/json' },
  });
});

describe('failures are words with a next step', () => {
  it('no connection', async () => {
    answering(() => Promise.reject(new TypeError('fetch failed')));
    expect(await failed('/api/reserves')).toMatchObject({
      text: 'The service cannot be reached.',
      next: expect.stringContaining('Check your connection'),
      requestId: null,
    });
  });

  it('no answer in time', async () => {
    answering(() => Promise.reject(new DOMException('too slow', 'TimeoutError')));
    expect((await failed('/api/reserves')).text).toBe('The service did not answer in time.');
  });

  it.each([
    ['a page instead of an answer', new Response('<h1>Bad gateway</h1>', { status: 502 }), 502],
    ['a page that says 200', new Response('<h1>Maintenance</h1>'), 200],
    ['an answer cut short', new Response('{"bitcoin":{"addr'), 200],
    ['nothing at all', new Response(null, { status: 500 }), 500],
  ])('%s', async (_name, response, status) => {
    answering(async () => response);
    expect((await failed('/api/reserves')).text).toBe(
      `The service did not answer as it should (status ${status}).`,
    );
  });

  it('a wait that the service asks for is told in people’s units', () => {
    const body = { error_code: 'SWAP_LIMIT_REACHED', error: 'x', action: 'retry_later', retry_after_s: 1800 };
    expect(failureOf(503, new Headers(), body).next).toContain('about 30 minutes');
    expect(failureOf(503, new Headers(), { ...body, retry_after_s: 5 }).next).toContain('5 seconds');
  });

  it.each([
    ['retry_with_new_key', true],
    ['retry_later', false],
    ['fix_request', false],
    [undefined, false],
  ])('after %s the next try needs a new key: %s', (action, needsNewKey) => {
    const body = { error_code: 'X', error: 'x', action };
    expect(failureOf(502, new Headers(), body)).toMatchObject({ needsNewKey });
    expect(failureOf(502, new Headers(), 'no JSON')).toMatchObject({ needsNewKey: false });
  });

  it('every action that the service knows has words of its own', () => {
    const unknown = failureOf(500, new Headers(), {
      error_code: 'X',
      error: 'x',
      action: 'no_such_action',
    }).next;
    for (const { action } of Object.values(ERRORS)) {
      const { next } = failureOf(500, new Headers(), { error_code: 'X', error: 'x', action });
      expect(next, action).not.toBe(unknown);
    }
  });
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { CallFailed, call, failureFrom, failureOf } from '../../site/api/call.ts';
import { ERRORS } from '../../src/core/errors.ts';

afterEach(() => vi.unstubAllGlobals());

/** A model of the network for the page. */
function answering(answer: () => Promise<Response>) {
  const sent: { url: string; init: RequestInit }[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    sent.push({ url, init });
    return answer();
  });
  return sent;
}

const failed = async () => {
  const thrown = await call('getReserves', {}).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(CallFailed);
  return failureFrom(thrown);
};

it('a creation sends its idempotency key and body, but no data that identifies the visitor', async () => {
  const sent = answering(async () => Response.json({ ok: true }));
  await call('createSwap', { amountSol: '0.5' }, { idempotencyKey: '0123456789abcdef' }).catch(() => null);
  expect(sent[0]?.init).toMatchObject({
    method: 'POST',
    credentials: 'omit',
    body: '{"amountSol":"0.5"}',
  });
  expect(Object.fromEntries(new Headers(sent[0]?.init?.headers))).toEqual({
    accept: 'application/json',
    'content-type': 'application/json',
    'idempotency-key': '0123456789abcdef',
  });
});

it('while the outcome of a creation is unknown, sends the same key even after a reload', async () => {
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => stored.set(name, value),
    removeItem: (name: string) => stored.delete(name),
  });
  const keys: unknown[] = [];
  for (let load = 0; load < 2; load++) {
    vi.resetModules();
    const page = await import('../../site/api/call.ts');
    const sent = answering(() => Promise.reject(new TypeError('fetch failed')));
    await page.call('createSwap', { amountSol: '0.5' }).catch(() => null);
    keys.push(new Headers(sent[0]?.init.headers).get('idempotency-key'));
  }
  expect(keys[0]).toMatch(/^[\x21-\x7e]{16,128}$/);
  expect(keys[1]).toBe(keys[0]);
});

describe('failures are shown in words with a next step', () => {
  it('shows a failed connection in words with a next step', async () => {
    answering(() => Promise.reject(new TypeError('fetch failed')));
    expect(await failed()).toMatchObject({
      text: 'The service cannot be reached.',
      next: 'Check your connection and try again.',
      requestId: null,
    });
  });

  it.each([
    ['no response', () => Promise.reject(new TypeError('fetch failed'))],
    ["a proxy's error page", async () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ])('says that a repeat is safe after a creation that got %s', async (_name, respond) => {
    answering(respond);
    const thrown = await call('createSwap', { amountSol: '0.5' }).catch((error: unknown) => error);
    expect(failureFrom(thrown).next).toMatch(/a repeat never sends twice/);
  });

  it('shows a late response in words with a next step', async () => {
    answering(() => Promise.reject(new DOMException('too slow', 'TimeoutError')));
    expect((await failed()).text).toBe('The service did not respond in time.');
  });

  it.each([
    ['a page instead of an answer', new Response('<h1>Bad gateway</h1>', { status: 502 }), 502],
    ['a page with status 200', new Response('<h1>Maintenance</h1>'), 200],
    ['an answer cut short', new Response('{"bitcoin":{"addr'), 200],
    ['nothing at all', new Response(null, { status: 500 }), 500],
  ])('shows an unreadable response as text with a next step: %s', async (_name, response, status) => {
    answering(async () => response);
    expect((await failed()).text).toBe(`The service does not respond (status ${status}).`);
  });

  const refused = {
    kind: 'refused',
    status: 503,
    error_code: 'SWAP_LIMIT_REACHED',
    error: 'x',
    action: 'retry_later',
    retryable: true,
    request_id: 'r-1',
  } as const;

  it.each([
    [5, '5 seconds'],
    [30, '30 seconds'],
    [600, 'about 10 minutes'],
    [7200, 'about 2 hours'],
    [86_400, 'about 24 hours'],
  ])('shows a wait of %i s in a suitable unit', (retry_after_s, text) => {
    expect(failureOf({ ...refused, retry_after_s }).next).toContain(`wait ${text}.`);
  });

  it.each([
    ['PAYMENT_NOT_BOUND', 'Do not pay again.'],
    ['NO_METADATA', 'It cannot be listed without one.'],
  ] as const)('does not ask a visitor to change the request after %s, but says: %s', (error_code, text) => {
    const { action } = ERRORS[error_code];
    expect(failureOf({ ...refused, error_code, action }).next).toMatch(new RegExp(`^${text}`));
  });

  it('every action that the service returns has its own next step', () => {
    const unknown = failureOf({ ...refused, action: 'no_such_action' as 'none' }).next;
    for (const { action } of Object.values(ERRORS))
      expect(failureOf({ ...refused, action }).next, action).not.toBe(unknown);
  });
});

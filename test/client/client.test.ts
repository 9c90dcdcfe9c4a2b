import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Client, createClient, type Failure, memoryKeys } from '../../packages/client/src/index.ts';
import { EXAMPLES } from '../../scripts/documents/examples.ts';

type Sent = { readonly url: string; readonly init: RequestInit };
type Reply = {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly afterMs?: number;
};

const exampleOf = (operationId: string): object =>
  Object(EXAMPLES[operationId]?.responses.find(({ name }) => name === 'ok')?.body);
const CREATED = exampleOf('createSwap');
const WAITING = { ...exampleOf('getSwapStatus'), status: 'waiting', nextPollSeconds: 5 };
const FINISHED = { ...WAITING, status: 'finished', nextPollSeconds: null };
const ADDRESS = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const ID = '5fFK6dZeVLSmuXCgLUbXRWsKPZBj7jUaicdZfyVMdY7NJeZTtUfbCwkgZwGh35zr6t7bs4GaMCCdhrqgNfz8obY1';
const problem = (error_code: string, action: string, more: object = {}) => ({
  error_code,
  error: 'Why.',
  action,
  request_id: 'r-1',
  retryable: false,
  ...more,
});
const LOST = new TypeError('fetch failed');

/** A service that gives these replies in turn; an Error is a broken connection. */
function service(...replies: (Reply | Error)[]): { sluice: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const sluice = createClient({
    baseUrl: 'https://sluice.test',
    async fetch(input, init = {}) {
      sent.push({ url: String(input), init });
      init.signal?.throwIfAborted();
      const reply = replies.shift();
      if (reply === undefined) throw new Error(`no reply for ${String(input)}`);
      if (reply instanceof Error) throw reply;
      const { status = 200, body = {}, headers = {}, afterMs } = reply;
      if (afterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, afterMs));
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return new Response(status === 204 ? null : text, { status, headers });
    },
  });
  return { sluice, sent };
}

const headerOf = (sent: readonly Sent[], name: string, at = 0): string | null =>
  new Headers(sent[at]?.init.headers).get(name);
const keyOf = (sent: readonly Sent[], at = 0) => headerOf(sent, 'idempotency-key', at);

describe('a request', () => {
  it('fills path, query and body from one input', async () => {
    const { sluice, sent } = service({}, {}, {});
    await sluice.call('getSwapStatus', { id: '../ops?x=1' });
    await sluice.call('searchTokens', { q: 'moon & cat', cursor: undefined });
    await sluice.call('createInvoice', { name: 'Moon', symbol: 'M', creator_address: ADDRESS });
    expect(sent.map(({ url, init }) => [init.method, url, init.body])).toEqual([
      ['GET', 'https://sluice.test/api/swap/status/..%2Fops%3Fx%3D1', undefined],
      ['GET', 'https://sluice.test/api/listings/search?q=moon+%26+cat', undefined],
      [
        'POST',
        'https://sluice.test/api/invoices',
        `{"name":"Moon","symbol":"M","creator_address":"${ADDRESS}"}`,
      ],
    ]);
  });

  it('sends the bookmark of the last response that had one', async () => {
    const { sluice, sent } = service({}, { headers: { 'x-data-bookmark': '0000-1' } }, {}, LOST, {});
    for (let read = 0; read < 5; read += 1) await sluice.call('getReserves', {});
    expect(sent.map((_, at) => headerOf(sent, 'x-data-bookmark', at))).toEqual([
      null,
      null,
      '0000-1',
      '0000-1',
      '0000-1',
    ]);
  });

  it('requests a wait only from operations that support it', async () => {
    const { sluice, sent } = service({}, {});
    await sluice.call('confirmInvoice', { invoice_id: 'x' }, { wait: 20 });
    await sluice.call('getReserves', {}, { wait: 20 });
    expect([headerOf(sent, 'prefer'), headerOf(sent, 'prefer', 1)]).toEqual(['wait=20', null]);
  });

  it('returns text where the service answers text, and null for an empty answer', async () => {
    const { sluice } = service({ body: '# Sluice' }, { status: 204 });
    expect(await sluice.call('getLlmsText', {})).toMatchObject({ ok: true, value: '# Sluice' });
    const pageview = { path: '/', referrer: '' } as Parameters<typeof sluice.call<'addPageview'>>[1];
    expect(await sluice.call('addPageview', pageview)).toMatchObject({ ok: true, value: null });
  });
});

describe('a failure is a value', () => {
  const failureOf = async (reply: Reply | Error): Promise<Failure> => {
    const result = await service(reply).sluice.call('getDefaultPool', {});
    if (result.ok) throw new Error('it succeeded');
    return result.failure;
  };

  it.each<[name: string, reply: Reply | Error, failure: object]>([
    [
      'refused, with the problem of the API',
      { status: 503, body: problem('NOT_CONFIGURED', 'contact_operator', { details: { a: 1 } }) },
      { kind: 'refused', status: 503, error_code: 'NOT_CONFIGURED', details: { a: 1 }, retryable: false },
    ],
    [
      'upstream, with the body that the pool route passes on',
      { status: 404, body: { message: 'no such pool' } },
      { kind: 'upstream', status: 404, body: { message: 'no such pool' } },
    ],
    [
      'unreadable for the page of a proxy',
      { status: 502, body: '<h1>Bad gateway</h1>' },
      { kind: 'unreadable', status: 502 },
    ],
    [
      'unreadable for a page with status 200',
      { body: '<h1>Maintenance</h1>' },
      { kind: 'unreadable', status: 200 },
    ],
    ['unreadable for JSON that is not an object', { body: '[]' }, { kind: 'unreadable', status: 200 }],
    ['unreachable without a connection', LOST, { kind: 'unreachable', reason: 'network' }],
    [
      'unreachable after a timeout',
      new DOMException('too slow', 'TimeoutError'),
      { kind: 'unreachable', reason: 'timeout' },
    ],
  ])('%s', async (_name, reply, failure) => {
    expect(await failureOf(reply)).toMatchObject(failure);
  });

  it('unreachable when the caller stops the call', async () => {
    const { sluice } = service({ body: CREATED });
    const result = await sluice.call('getReserves', {}, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ok: false, failure: { kind: 'unreachable', reason: 'aborted' } });
  });

  it('narrows by kind and by error code', async () => {
    const { sluice } = service({ status: 404, body: problem('NOT_FOUND', 'check_id') });
    const result = await sluice.call('getSwapStatus', { id: ID });
    if (result.ok || result.failure.kind !== 'refused') throw new Error('it was not refused');
    const { failure } = result;
    const code: 'NOT_FOUND' | 'INTERNAL' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE' = failure.error_code;
    expect(code).toBe('NOT_FOUND');
    // @ts-expect-error: this operation never answers this code.
    expect(failure.error_code === 'SWAP_LIMIT_REACHED').toBe(false);
  });
});

describe('a creation', () => {
  const input = { amountSol: '0.5' };

  it('sends a new key after each known outcome', async () => {
    const replayed = { 'idempotency-replayed': 'true' };
    const { sluice, sent } = service({ body: CREATED }, { body: CREATED, headers: replayed });
    expect(await sluice.call('createSwap', input)).toMatchObject({
      ok: true,
      replayed: false,
      idempotencyKey: keyOf(sent),
    });
    expect(await sluice.call('createSwap', input)).toMatchObject({ ok: true, replayed: true });
    expect(keyOf(sent)).toMatch(/^[\x21-\x7e]{16,128}$/);
    expect(keyOf(sent, 1)).not.toBe(keyOf(sent));
  });

  it.each<[name: string, lost: Reply | Error]>([
    ['the connection broke', LOST],
    ['a proxy answered', { status: 502, body: '<h1>Bad gateway</h1>' }],
    ['the answer names no swap', { body: { initiated: true } }],
    [
      'the first call still runs',
      {
        status: 409,
        body: problem('IDEMPOTENCY_IN_PROGRESS', 'retry_with_same_key', { retryable: true }),
      },
    ],
    ['an unexpected failure happened', { status: 500, body: problem('INTERNAL', 'report_request_id') }],
  ])('sends the same key again after %s', async (_name, lost) => {
    const { sluice, sent } = service(lost, { body: CREATED });
    expect(await sluice.call('createSwap', input)).toMatchObject({ ok: false, idempotencyKey: keyOf(sent) });
    await sluice.call('createSwap', input);
    expect(keyOf(sent, 1)).toBe(keyOf(sent));
  });

  it.each<[name: string, refused: Reply]>([
    ['a refusal', { status: 400, body: problem('AMOUNT_TOO_SMALL', 'fix_request') }],
    [
      'a refusal that asks for a new key',
      { status: 502, body: problem('QUOTE_REFUSED', 'retry_with_new_key', { retryable: true }) },
    ],
  ])('sends a new key after %s', async (_name, refused) => {
    const { sluice, sent } = service(refused, { body: CREATED });
    expect(await sluice.call('createSwap', input)).not.toHaveProperty('idempotencyKey');
    await sluice.call('createSwap', input);
    expect(keyOf(sent, 1)).not.toBe(keyOf(sent));
  });

  it('keeps the key of a call that the caller stopped', async () => {
    const { sluice, sent } = service({ body: CREATED });
    await sluice.call('createSwap', input, { signal: AbortSignal.abort() });
    await sluice.call('createSwap', input);
    expect(keyOf(sent, 1)).toBe(keyOf(sent));
  });

  it('has a separate key for each input', async () => {
    const { sluice, sent } = service(LOST, LOST);
    await sluice.call('createSwap', input);
    await sluice.call('createSwap', { amountSol: '0.6' });
    expect(keyOf(sent, 1)).not.toBe(keyOf(sent));
  });

  it('sends no key for a rehearsal', async () => {
    const { sluice, sent } = service({ body: CREATED }, { body: {} });
    await sluice.call('createSwap', { ...input, dry_run: true });
    await sluice.call('claimFromDeposit', { asset: 'USDC', depositTxSignature: ID, skipReward: true });
    expect([keyOf(sent), keyOf(sent, 1)]).toEqual([null, null]);
  });

  it('keeps at most 1,000 keys in memory, the newest ones', () => {
    const keys = memoryKeys();
    for (let call = 0; call <= 1_000; call++) keys.set(String(call), 'key');
    expect([keys.get('0'), keys.get('1'), keys.get('1000')]).toEqual([undefined, 'key', 'key']);
  });
});

describe('until', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const isOver = ({ status }: { readonly status: string }): boolean => status !== 'waiting';

  it('reads again at once after an answer that the service has waited for', async () => {
    const held = { 'preference-applied': 'wait=25' };
    const { sluice, sent } = service(
      { body: WAITING, headers: held, afterMs: 2_000 },
      { body: FINISHED, headers: held },
    );
    const ended = sluice.until('getSwapStatus', { id: ID }, isOver);
    await vi.advanceTimersByTimeAsync(2_001);
    expect(await ended).toMatchObject({ ok: true, value: { status: 'finished' } });
    expect(sent).toHaveLength(2);
    expect(headerOf(sent, 'prefer')).toBe('wait=25');
  });

  it('reads at most once a second when a state is final to the service and not to the caller', async () => {
    const stuck = { body: WAITING, headers: { 'preference-applied': 'wait=25' } };
    const { sluice, sent } = service(...Array.from({ length: 20 }, () => stuck));
    const stop = new AbortController();
    const ended = sluice.until('getSwapStatus', { id: ID }, isOver, { signal: stop.signal });
    await vi.advanceTimersByTimeAsync(5_500);
    stop.abort();
    await ended;
    expect(sent.length).toBeLessThanOrEqual(6);
  });

  it('polls after the pause that the answer names where the service does not wait', async () => {
    const { sluice, sent } = service({ body: WAITING }, { body: FINISHED });
    const ended = sluice.until('getSwapStatus', { id: ID }, isOver);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await ended).toMatchObject({ ok: true, value: { status: 'finished' } });
  });

  it('retries after temporary failures, and waits as long as the service requests', async () => {
    const busy = problem('CUSTODIAN_UNAVAILABLE', 'retry_later', { retryable: true, retry_after_s: 7 });
    const { sluice, sent } = service({ status: 503, body: busy }, LOST, { body: FINISHED });
    const ended = sluice.until('getSwapStatus', { id: ID }, isOver);
    await vi.advanceTimersByTimeAsync(6_999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await ended).toMatchObject({ ok: true, value: { status: 'finished' } });
  });

  it('ends at a permanent failure', async () => {
    const { sluice } = service({ status: 404, body: problem('NOT_FOUND', 'check_id') });
    expect(await sluice.until('getSwapStatus', { id: ID }, isOver)).toMatchObject({
      ok: false,
      failure: { error_code: 'NOT_FOUND' },
    });
  });

  it('ends during a pause when the caller stops it, with the last result', async () => {
    const { sluice, sent } = service({ body: WAITING });
    const stop = new AbortController();
    const ended = sluice.until('getSwapStatus', { id: ID }, isOver, { signal: stop.signal });
    await vi.advanceTimersByTimeAsync(100);
    stop.abort();
    expect(await ended).toMatchObject({ ok: true, value: { status: 'waiting' } });
    expect(sent).toHaveLength(1);
  });
});

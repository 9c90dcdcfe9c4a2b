import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { lamports, sats } from '../../../src/core/amount.ts';
import { quoteBudgets } from '../../../src/core/call-limits.ts';
import { MAX_WAIT_MS } from '../../../src/core/durations.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { SwapAnswer } from '../../../src/custody/api.ts';
import { type CustodianWorld, createCustodianWorld, keyed, request } from '../../kit/custodian.ts';
import { quoteFor } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { LIMITS } from '../../kit/limits.ts';
import { FEE, SOL } from '../../kit/sample-operations.ts';
import { scenes } from '../../kit/scenes.ts';
import { playCustody } from '../custody-scenes.ts';

const MINUTE = 60_000;
const refusalOf = (answer: SwapAnswer) => (answer.type === 'refused' ? answer.refusal : undefined);
const codes = (answers: SwapAnswer[]) =>
  answers.map((answer) => (answer.type === 'created' ? answer.swap.signature : answer.refusal.code));
const deposit = (at: number) => base58.encode(new Uint8Array(32).fill(at));
const rows = (w: CustodianWorld) => w.journal.latest(999);

/** Holds every balance read back until `open` is called. */
function slowBalance(w: CustodianWorld) {
  const { nextBalance } = w.chain;
  const gate = Promise.withResolvers<void>();
  w.chain.nextBalance = async (minSlot) => {
    await gate.promise;
    return nextBalance(minSlot);
  };
  return { open: () => gate.resolve() };
}

/** A caller's wait is over at once; what has a limit of its own ends in time. */
const callerLeaves = <T>(work: Promise<T>, ms: number): Promise<T | undefined> =>
  ms === MAX_WAIT_MS ? Promise.resolve(undefined) : work;

describe('one key', () => {
  it('one key makes one swap for any number of repeats, whose responses are equal and marked as repeats', async () => {
    const w = createCustodianWorld();
    const first = await w.custody.createSwap(keyed('a'));
    w.clock.now += 400 * 24 * 3_600_000;
    const again = await w.custody.createSwap(keyed('a'));
    expect(first).toMatchObject({ type: 'created', replayed: false });
    expect(again).toEqual({ ...first, replayed: true });
    expect([w.signatures(), rows(w).length]).toEqual([1, 1]);
  });

  it.each([2, 20])(
    '%i concurrent calls with one key make one swap while the balance is read slowly',
    async (calls) => {
      const w = createCustodianWorld();
      const balance = slowBalance(w);
      const pending = Array.from({ length: calls }, () => w.custody.createSwap(keyed('a')));
      balance.open();
      const answers = await Promise.all(pending);
      expect(new Set(codes(answers))).toEqual(new Set(['signature-1']));
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect([w.signatures(), rows(w).length, w.bridge.quotes.length]).toEqual([1, 1, 1]);
    },
  );

  it('two calls with one key make one swap when they share the running read of the balance', async () => {
    const w = createCustodianWorld();
    const balance = slowBalance(w);
    // The first read belongs to another key; two equal keys share it and go on in the same instant.
    const pending = ['z', 'a', 'a'].map((name) => w.custody.createSwap(keyed(name, { client: name })));
    balance.open();
    const answers = await Promise.all(pending);
    expect(answers.every(({ type }) => type === 'created')).toBe(true);
    expect(new Set(codes(answers)).size).toBe(2);
    expect(rows(w)).toHaveLength(2);
  });

  it('refuses the same key with a different body, before and after the swap exists', async () => {
    const w = createCustodianWorld();
    const other = keyed('a', { key: { keyHash: 'key-a', bodyHash: 'another body' } });
    const answers = await Promise.all([w.custody.createSwap(keyed('a')), w.custody.createSwap(other)]);
    // The first call owns the key.
    expect(codes(answers).toSorted()).toEqual(['IDEMPOTENCY_KEY_REUSED', 'signature-1']);
    const loser = answers[0]?.type === 'created' ? other : keyed('a');
    expect(refusalOf(await w.custody.createSwap(loser))?.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(w.signatures()).toBe(1);
  });

  it('a swap that the bridge failed asks for a new key, because its own key returns the failure for good', async () => {
    const w = createCustodianWorld();
    const { nextQuote } = w.bridge;
    w.bridge.nextQuote = () => {
      throw upstreamFailed('near-intents', 'timeout');
    };
    const estimated = await w.custody.estimateSwap({ amountLamports: SOL, client: 'c' });
    const failed = { code: 'UPSTREAM_FAILED', action: 'retry_with_new_key' };
    expect(estimated).toMatchObject({ type: 'unquoted', refusal: failed });
    expect(refusalOf(await w.custody.createSwap(keyed('a')))).toMatchObject(failed);
    w.bridge.nextQuote = nextQuote;
    w.clock.now += 3_600_000;
    expect(refusalOf(await w.custody.createSwap(keyed('a')))).toMatchObject(failed);
    expect((await w.custody.createSwap(keyed('b'))).type).toBe('created');
  });

  it('the caller of a slow swap gets a retry time, and the swap is not started twice', async () => {
    const w = createCustodianWorld({ within: callerLeaves });
    const answer = await w.custody.createSwap(keyed('a'));
    expect(answer).toMatchObject({ type: 'refused', replayed: false });
    expect(refusalOf(answer)).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', retryAfterSeconds: 5 });
    w.clock.now += 1_000;
    await w.custody.alarm();
    expect(await w.custody.createSwap(keyed('a'))).toMatchObject({ type: 'created', replayed: true });
    expect(w.signatures()).toBe(1);
  });
});

describe('calls without a key', () => {
  it('the response for a slow swap states that a repeat would start a second swap', async () => {
    const w = createCustodianWorld({ within: callerLeaves });
    const answer = await w.custody.createSwap(request());
    expect(refusalOf(answer)).toMatchObject({
      code: 'IDEMPOTENCY_IN_PROGRESS',
      message: expect.stringContaining('would start a second swap'),
    });
  });

  it('20 concurrent swaps never exceed the caps, and each refusal names the limit and the retry time', async () => {
    const w = createCustodianWorld();
    const calls = Array.from({ length: 20 }, (_, at) => w.custody.createSwap(request({ client: `c${at}` })));
    const answers = await Promise.all(calls);
    const refusals = answers.flatMap((answer) => refusalOf(answer) ?? []);
    expect(answers.length - refusals.length).toBe(4);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'SWAP_LIMIT_REACHED', details: { limit: 'hour' } });
      expect(refusal.retryAfterSeconds).toBe(3_600 + 1);
    }
    // All calls shared one read of the balance.
    expect(w.chain.reads.balance).toBe(1);
  });

  it('20 concurrent swaps never spend more than the balance, floor and fees included', async () => {
    const w = createCustodianWorld();
    const held = 3n * SOL + 2n * FEE + SOL / 10n;
    w.chain.nextBalance = async () => ({ lamports: lamports(held), slot: 100n });
    const calls = Array.from({ length: 20 }, (_, at) => w.custody.createSwap(request({ client: `c${at}` })));
    const created = (await Promise.all(calls)).filter(({ type }) => type === 'created');
    expect(created).toHaveLength(2);
  });
});

describe('the share of bridge quotes', () => {
  const rich = () =>
    createCustodianWorld({
      limits: { ...LIMITS, hour: 99n * SOL, day: 99n * SOL, unsettled: 99n * SOL, cost_day: SOL },
    });

  it.each(
    scenes(`
      a client's eighth swap within two hours is refused, and names the time of the client's next swap
        | swaps 1 first = 1; wait 1m; swaps 1 first = 1; wait 1m; swaps 1 first = 1; wait 1m; swaps 1 first = 1; wait 1m; swaps 1 first = 1; wait 1m;
          swaps 1 first = 1; wait 1m; swaps 1 first = 1; wait 1m; swap a plain client:first = RATE_LIMITED limit:create_quotes retry:6780;
          swaps 1 other = 1; wait 113m; swaps 1 first = 1
      20 calls of one client at once make seven swaps at most
        | swaps 20 first = 7
      all clients together never get more than the total
        | swaps 100 = 60
      a swap that the bridge refuses has used its quote
        | refuse pair_paused; swaps 7 first = 0; swap a plain client:first = RATE_LIMITED
    `),
  )('%s', (_title, steps = '') => playCustody(steps, rich()));

  it('the networks of one /48 never use up the quotes of all clients', async () => {
    const w = rich();
    const clients = Array.from({ length: 200 }, (_, at) => `2001:db8:1:${(at * 16).toString(16)}::/64`);
    for (const [asked, made] of [[clients, 28] as const, [['198.51.100.1', '203.0.113.1'], 2] as const]) {
      const calls = asked.map((client) =>
        w.custody.createSwap(request({ amountLamports: SOL / 10n, client })),
      );
      const answers = await Promise.all(calls);
      expect(answers.filter(({ type }) => type === 'created')).toHaveLength(made);
    }
  });

  it('no swap is made without quotes', async () => {
    const w = createCustodianWorld({ quoteBudgets: quoteBudgets(0) });
    expect(refusalOf(await w.custody.createSwap(request()))).toMatchObject({ code: 'QUOTE_BUDGET_SPENT' });
    expect(w.signatures()).toBe(0);
  });

  it('a refused call is not counted in the limit of its client', async () => {
    const w = createCustodianWorld();
    for (let call = 0; call < 10; call++) await w.custody.createSwap(request({ amountLamports: 3n * SOL }));
    expect((await w.custody.createSwap(request())).type).toBe('created');
  });
});

it("refuses a swap before it is signed if its cost exceeds the rest of the day's limit, and ends its reservation", async () => {
  const w = createCustodianWorld();
  w.bridge.nextQuote = (amount) => ({
    ok: true,
    // Two percent: 0.04 SOL of each 2, and the day has 0.1.
    quote: quoteFor(amount, { minimumSats: sats(245_000n), depositAddress: deposit(w.bridge.quotes.length) }),
  });
  land(w.chain, { debit: lamports(2n * SOL + FEE) });
  const answers: SwapAnswer[] = [];
  for (let swap = 0; swap < 3; swap++) {
    answers.push(await w.custody.createSwap(request({ amountLamports: 2n * SOL, client: `c${swap}` })));
    w.clock.now += 61 * MINUTE;
    for (const row of w.journal.open())
      w.journal.update(
        row,
        { ...row, reserved: lamports(0n), unsettled: lamports(0n), dueAt: null },
        w.clock.now,
      );
  }
  expect(answers.map(({ type }) => type)).toEqual(['created', 'created', 'refused']);
  const last = answers[2];
  expect(last && refusalOf(last)).toMatchObject({
    code: 'SWAP_LIMIT_REACHED',
    // The first of them leaves the day's window then.
    retryAfterSeconds: 24 * 3_600 - 2 * 61 * 60 + 1,
    details: { limit: 'cost_day' },
  });
  const again = await w.custody.createSwap(request({ amountLamports: 2n * SOL, client: 'another' }));
  expect(refusalOf(again)?.details).toMatchObject({ limit: 'cost_day' });
  expect((await w.custody.createSwap(request({ amountLamports: SOL / 2n, client: 'small' }))).type).toBe(
    'created',
  );
  expect(w.journal.latest(2)[1]).toMatchObject({
    state: 'failed',
    reason: { type: 'limit', by: 'cost_day' },
    amount: 0n,
    reserved: 0n,
  });
});

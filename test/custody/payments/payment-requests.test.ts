import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestView } from '../../../src/custody/api.ts';
import { cases } from '../../cases.ts';
import { wallet } from '../../kit/addresses.ts';
import { scenes } from '../../kit/scenes.ts';
import { simulateCustodian } from '../../kit/simulated-custodian.ts';
import { play } from './payment-scenes.ts';
import { createPaymentWorld, fee, type PaymentWorld, signature } from './payment-world.ts';

it('a confirm call refuses a malformed signature and an unknown request id', async () => {
  const { open, confirm } = createPaymentWorld();
  expect(await confirm(open().id, 'abc')).toMatchObject({ refusal: { code: 'INVALID_SIGNATURE' } });
  expect(await confirm('unknown', signature(99))).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
});

it.each(RequestView.shape.kind.options)(
  'the exact payment of a request of the kind %s completes it',
  async (kind) => {
    const run = simulateCustodian({});
    const { id, feeLamports, reference } = await run.open(kind);
    run.pay(wallet(70_001), BigInt(feeLamports), [reference]);
    await run.pass(120_000);
    expect(await run.call((custody) => custody.findRequest(id))).toMatchObject({ kind, detail: 'completed' });
  },
);

describe('a payment that is not final or has failed', () => {
  it.each(
    scenes(`
      a transaction that failed with a charged fee is refused until the same bytes land without an error
        | open a; pay a fee failed; run; confirm a a1 = PAYMENT_FAILED; detail a = awaiting_payment; pay a fee as a1; confirm a a1 = confirmed
      a transaction that failed without a charged fee is refused until the same bytes land without an error
        | open a; pay a fee failed free; run; confirm a a1 = PAYMENT_FAILED; detail a = awaiting_payment; pay a fee as a1; confirm a a1 = confirmed
      a reported payment that is not final is shown for three minutes, which a repeat does not extend
        | open a; pay a fee sent; confirm a a1; detail a = seen; received a = 0; bought a = null; reported a = a1; wait 2m; confirm a a1; detail a = seen; wait 1m; detail a = awaiting_payment; reported a = null
      a reported part of one lamport is shown
        | open a; pay a 1 sent; confirm a a1; reported a = a1
      a reported payment is replaced by a newer payment, and removed when it turns out to pay nothing
        | open a; pay a 1 sent; confirm a a1; pay a fee sent; confirm a a2; reported a = a2; pay a fee failed as a2; confirm a a2; detail a = awaiting_payment; reported a = null
      a reported payment stays shown when a third party confirms another final transaction
        | open a; pay a fee sent; confirm a a1; pay a 1 unnamed; confirm a a2; pay a 1 unnamed failed; confirm a a3; detail a = seen; reported a = a1
      a reported payment is not kept for a request that has ended
        | open a; pay a fee; confirm a a1; pay a fee sent; confirm a a2; detail a = completed; reported a = null
      a request does not show a third party's transaction that failed
        | open a; pay a fee sent failed; confirm a a1 = PAYMENT_NOT_FINAL; detail a = awaiting_payment; reported a = null
      a request does not show a third party's transaction of another amount without the reference
        | open a; pay a fee+1 sent unnamed; confirm a a1 = PAYMENT_NOT_FINAL; detail a = awaiting_payment; reported a = null
      a request does not show a third party's transaction that pays another request
        | open a; open b; pay b fee sent; confirm a b1 = PAYMENT_NOT_FINAL; detail a = awaiting_payment; reported a = null
      a request does not show a third party's transaction that pays nothing
        | open a; pay a 0 sent; confirm a a1 = PAYMENT_NOT_FINAL; detail a = awaiting_payment; reported a = null
      a confirm call returns PAYMENT_NOT_FINAL without a reported payment when no node has the transaction
        | open a; confirm a invented = PAYMENT_NOT_FINAL chain:unknown; lookups = confirmed 5000 15000; detail a = awaiting_payment; reported a = null
      a confirm call waits for a final payment for the rest of the time that its caller waits
        | open a; pay a fee sent; slow 4s999ms; confirm a a1 = PAYMENT_NOT_FINAL retry:5; lookups = confirmed 5000 15000, final 1 15000
      a confirm call stops waiting for finality when its caller stops waiting
        | open a; pay a fee sent; slow 5s; confirm a a1 = PAYMENT_NOT_FINAL retry:5; lookups = confirmed 5000 15000
    `),
  )('%s', (_title, steps = '') => play(steps));

  it("a confirm call is refused when the caller's network has used up its share of lookups", async () => {
    const { open, confirm, state } = createPaymentWorld();
    const refusal = { code: 'RATE_LIMITED', message: 'used', retryAfterSeconds: 5 } as const;
    state.lookedUp = { type: 'refused', refusal };
    expect(await confirm(open().id, signature(99))).toEqual({ type: 'refused', refusal });
  });

  it('a reported payment changes neither the row in D1 nor the paid amount', async () => {
    const { open, confirm, payments, pay, send, storage } = createPaymentWorld();
    const request = open();
    send(fee(request), [request.reference], { signature: signature(99) });
    const rows = () => storage.exec('SELECT columns FROM outbox ORDER BY rowid');
    const before = rows();
    await confirm(request.id, signature(99));
    expect(payments.find(request.id)).toMatchObject({ detail: 'seen' });
    expect(rows()).toEqual(before);
    expect((await confirm(request.id, pay(fee(request), [request.reference]))).type).toBe('confirmed');
    expect(payments.find(request.id)).toMatchObject({ status: 'completed', reportedSignature: null });
    expect(JSON.stringify(rows())).not.toContain(signature(99));
  });
});

describe('one payment, one purpose', () => {
  const purposes = ['token', 'listing', 'claim'] as const;
  const pairs = purposes.flatMap((first) => purposes.map((second) => [first, second] as const));

  it.each(pairs)('a payment used for a %s cannot be used for a %s afterwards', async (first, second) => {
    const world = createPaymentWorld();
    const requests = { token: world.open(), listing: world.open({ kind: 'listing' }) };
    const rival = { token: world.open(), listing: world.open({ kind: 'listing' }) };
    const of = (purpose: 'token' | 'listing', rank: number) => (rank === 0 ? requests : rival)[purpose];
    const bound = first === 'claim' ? (second === 'claim' ? requests.token : of(second, 1)) : of(first, 0);
    const paid = world.pay(fee(bound), [bound.reference]);
    const claim = (rank: number): boolean => {
      world.journal.keepUsed(`payment:${paid}`, `asry:${rank}`, world.state.now);
      return world.journal.userOf(`payment:${paid}`) === `asry:${rank}`;
    };
    const take = async (purpose: (typeof purposes)[number], rank: number): Promise<boolean> =>
      purpose === 'claim'
        ? claim(rank)
        : (await world.confirm(of(purpose, rank).id, paid)).type === 'confirmed';
    const outcomes = [await take(first, 0), await take(second, 1)];
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect(world.created.length).toBeLessThanOrEqual(1);
  });

  it('creates each token at most once and loses no lamport, in any order of payments, confirms and runs', {
    tags: ['scaled'],
  }, async () => {
    const steps = fc.array(
      fc.record({
        act: fc.constantFrom('pay', 'payExact', 'confirm', 'run', 'wait'),
        who: fc.nat(3),
        what: fc.nat(3),
        lamports: fc.constantFrom(10_001n, 10_000_000n, 20_000_000n, 30_000_000n),
      }),
      { minLength: 1, maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (schedule) => {
        const world = createPaymentWorld();
        const requests = [
          world.open(),
          world.open(),
          world.open({ kind: 'listing' }),
          world.open({ kind: 'listing' }),
        ];
        let total = 0n;
        for (const { act, who, what, lamports } of schedule) {
          const request = requests[who];
          if (!request) continue;
          if (act === 'pay' || act === 'payExact') {
            const amount = act === 'pay' ? lamports : fee(request);
            world.pay(amount, [request.reference]);
            total += amount;
          }
          if (act === 'confirm')
            await world.confirm(request.id, world.chain[what]?.signature ?? signature(90));
          if (act === 'run') await world.payments.run();
          if (act === 'wait') world.state.now += 15 * 60_000;
        }
        // A last request keeps the search running until everything is booked; then open requests expire.
        world.open();
        for (let runs = 0; runs < 4; runs++) await world.payments.run();
        world.state.now += 2 * 60 * 60_000;
        for (let runs = 0; runs < 4; runs++) await world.payments.run();
        expect(new Set(world.created).size).toBe(world.created.length);
        let booked = 0n;
        for (const { id } of requests) {
          const view = world.payments.find(id);
          if (!view) throw new Error('lost');
          const owed = view.refunds.reduce((sum, { lamports }) => sum + BigInt(lamports), 0n);
          const kept = view.status === 'completed' ? fee(view) : 0n;
          // Dust above the fee is kept and not owed.
          const dust = view.status === 'completed' ? BigInt(view.receivedLamports) - kept : 0n;
          booked += owed + kept + (dust > 0n && dust <= 10_000n ? dust : 0n);
          expect(['completed', 'expired', 'refund_due']).toContain(view.detail);
        }
        expect(booked).toBe(total);
      }),
      { numRuns: cases(300, 40) },
    );
  });
});

describe('how many requests may be open', () => {
  /** The requests that clients can open until each is refused, one after the other. */
  function fill(world: PaymentWorld, clients: readonly string[]): number {
    let opened = 0;
    for (let isOpen = true; isOpen; ) {
      isOpen = false;
      for (const client of clients) {
        try {
          world.open({ client });
          opened++;
          isOpen = true;
        } catch (error) {
          expect(String(error)).toContain('TOO_MANY_OPEN_REQUESTS');
        }
      }
    }
    return opened;
  }

  it('one address may have ten open requests, its /24 or /56 twenty, and its /48 forty', () => {
    const world = createPaymentWorld();
    expect(fill(world, ['198.51.100.1'])).toBe(10);
    expect(fill(world, ['198.51.100.2', '198.51.100.3'])).toBe(10);
    expect(fill(world, ['2001:db8:1:100::/64'])).toBe(10);
    expect(fill(world, ['2001:db8:1:101::/64', '2001:db8:1:102::/64'])).toBe(10);
    expect(fill(world, ['2001:db8:1:200::/64', '2001:db8:1:300::/64', '2001:db8:1:400::/64'])).toBe(20);
  });

  it('a new network can open a request after 50 other networks have opened as many as they can', () => {
    const world = createPaymentWorld();
    const networks = Array.from({ length: 50 }, (_, n) => `2001:db8:${n.toString(16)}:1::/64`);
    expect(fill(world, networks)).toBeLessThan(500);
    expect(fill(world, ['203.0.113.7'])).toBeGreaterThanOrEqual(2);
  });
});

describe('a token when its listing is paid', () => {
  it.each(
    scenes(`
      a listed token cannot be listed again
        | open a listing mint; pay a fee; run; open-fails listing mint = ALREADY_LISTED
      a paid token is listed as the chain shows it when it is paid, not as an earlier request found it
        | mints named Now; open b listing mint; open a listing mint; pay a fee; confirm a a1 = confirmed; listed = 1 Now NOW 9 2; token b = 1; subject a = Now
      a paid token is refunded in full if it can be paused when it is paid
        | mints powers; open a listing mint; pay a 1000000; run; pay a fee; confirm a a2 = REFUND_DUE; listed = none; tokens = 1; detail a = refund_due; reason a = listing refused: powers; owed a = failed 1000000, failed fee
      a paid token is refunded in full if its account is not a mint when it is paid
        | mints not_a_mint; open a listing mint; pay a 1000000; run; pay a fee; confirm a a2 = REFUND_DUE; listed = none; tokens = 1; detail a = refund_due; reason a = listing refused: not_a_mint; owed a = failed 1000000, failed fee
      a paid token is refunded in full if it has a reserved name when it is paid
        | mints text; open a listing mint; pay a 1000000; run; pay a fee; confirm a a2 = REFUND_DUE; listed = none; tokens = 1; detail a = refund_due; reason a = listing refused: text; owed a = failed 1000000, failed fee
      the second of two paid listings of a token delivers nothing and owes each of its payments back
        | open a listing mint; open b listing mint; pay b 1000000; run; pay a fee; confirm a a1 = confirmed; wait 1m; pay b fee; confirm b b2 = REFUND_DUE; listed = 1 Moon MOON 9 1; detail b = refund_due; reason b = ALREADY_LISTED; owed b = failed 1000000, failed fee
      a paid listing waits until the chain can be read, without delaying other payments
        | mints unread; open a listing mint; pay a fee; open b; pay b fee; run; detail b = completed; detail a = awaiting_payment; confirm-fails a a1 = no quorum; mints named Now; run; detail a = completed; owed a = none
      a token is not read for a payment that does not complete the fee
        | mints unread; open a listing mint; pay a 10; pay a 10; pay a 10; run; received a = 30
    `),
  )('%s', (_title, steps = '') => play(steps));

  it('a payment that matches a different request after each of three reads is not recorded yet', async () => {
    const world = createPaymentWorld();
    const [one, other] = [world.open({ kind: 'listing' }), world.open({ kind: 'listing' })];
    let reads = 0;
    world.state.listing = async () => {
      const named = [one, other][++reads % 2];
      world.storage.exec('UPDATE requests SET reference = id');
      world.storage.exec('UPDATE requests SET reference = ? WHERE id = ?', one.reference, String(named?.id));
      return { type: 'refused', fault: { type: 'not_a_mint' } };
    };
    const paid = world.pay(30_000_000n, [one.reference]);
    expect(await world.confirm(one.id, paid)).toMatchObject({
      refusal: { code: 'PAYMENT_NOT_FINAL', retryAfterSeconds: 5 },
    });
    expect(reads).toBe(3);
  });
});

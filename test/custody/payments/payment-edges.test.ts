/** The exact limits of a payment's effect: one lamport, millisecond or second more or less. */
import { describe, expect, it } from 'vitest';
import { isAddress } from '../../../src/chain/solana/address.ts';
import { lamports } from '../../../src/core/amount.ts';
import { type PaymentRequest, RequestStore } from '../../../src/custody/payments/request-store.ts';
import { settling } from '../../kit/sample-operations.ts';
import { createPaymentWorld, fee, type PaymentWorld, TREASURY } from './payment-world.ts';

const MINUTE = 60_000;
const CLOSES = 40 * MINUTE;
const codeOf = (answer: { type: string; refusal?: { code: string } }) => answer.refusal?.code ?? answer.type;
const owed = (world: PaymentWorld, id: string) =>
  world.payments.find(id)?.refunds.map(({ reason, lamports }) => [reason, lamports]);
/** The row of a request as D1 gets it. */
async function mirrored(world: PaymentWorld, key: string) {
  await world.flush();
  const row = world.mirror.rows.get(key);
  if (row === undefined) throw new Error(`no ${key}`);
  const { journal, ...columns } = row.columns;
  return {
    columns,
    ...(JSON.parse(String(journal)) as { row?: PaymentRequest; view: { feeLamports: string } }),
  };
}

describe('the time in which a request can be paid', () => {
  it('a request shows that its payment period is thirty minutes', () => {
    const { createdAt, expiresAt } = createPaymentWorld().open();
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * MINUTE);
  });

  it.each([
    ['without a block time by our clock, to the last millisecond', 0, null, 'confirmed'],
    ['without a block time by our clock, and not a millisecond longer', 1, null, 'REFUND_DUE'],
    ['in a block of the last second, although it is read later', 5_000, 0, 'confirmed'],
    ['in a block of the second after it', 5_000, 1, 'REFUND_DUE'],
  ])(
    'a request can be paid for forty minutes: a payment %s',
    async (_name, readMs, blockSeconds, outcome) => {
      const world = createPaymentWorld();
      const request = world.open();
      const closes = world.state.now + CLOSES;
      world.state.now = closes + readMs;
      const blockTime = blockSeconds === null ? null : closes / 1_000 + blockSeconds;
      const paid = world.pay(fee(request), [request.reference], { blockTime });
      expect(codeOf(await world.confirm(request.id, paid))).toBe(outcome);
      expect(owed(world, request.id)).toEqual(outcome === 'confirmed' ? [] : [['late', request.feeLamports]]);
    },
  );

  it('a request expires when a search starts more than half a minute after it closed', async () => {
    const world = createPaymentWorld();
    const { id } = world.open();
    world.state.now += CLOSES + 30_000;
    await world.payments.onCron();
    expect(world.payments.find(id)?.detail).toBe('awaiting_payment');
    world.state.now += 5_000;
    await world.payments.onCron();
    expect(world.payments.find(id)?.detail).toBe('expired');
  });

  it('keeps the row of an unpaid request for exactly seven more days', async () => {
    const world = createPaymentWorld();
    const { id } = world.open();
    world.state.now += CLOSES + 7 * 24 * 60 * MINUTE;
    await world.payments.run();
    expect(world.payments.find(id)?.detail).toBe('expired');
    world.state.now += 1;
    await world.payments.run();
    expect(world.payments.find(id)).toBeNull();
  });

  it('keeps the token of an unpaid listing for eight days after its newest request', async () => {
    const world = createPaymentWorld();
    const tokens = () => world.storage.exec('SELECT token_id FROM tokens');
    const listing = { kind: 'listing', subject: { mint: 'mint', name: 'Moon' } } as const;
    world.open(listing);
    world.state.now += 5 * 24 * 60 * MINUTE;
    expect(world.open(listing).subject).toMatchObject({ tokenId: 1 });
    world.state.now += 8 * 24 * 60 * MINUTE;
    await world.tokens.onCron();
    expect(tokens()).toHaveLength(1);
    world.state.now += 1;
    await world.tokens.onCron();
    expect(tokens()).toEqual([]);
  });

  it('expires at most 200 requests in one run', async () => {
    const world = createPaymentWorld();
    const requests = Array.from({ length: 201 }, () => world.open());
    world.state.now += CLOSES + MINUTE;
    await world.payments.onCron();
    const expired = () => requests.filter(({ id }) => world.payments.find(id)?.detail === 'expired').length;
    expect(expired()).toBe(200);
    await world.payments.onCron();
    expect(expired()).toBe(201);
  });

  it('a request does not expire before a search that started half a minute after it closed', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    world.state.now += CLOSES + 10_000;
    await world.payments.onCron();
    expect(world.payments.find(request.id)?.detail).toBe('awaiting_payment');
    world.pay(fee(request), [], { blockTime: Math.floor((world.state.now - 10_000) / 1_000) });
    world.state.now += MINUTE;
    await world.payments.run();
    expect(world.payments.find(request.id)?.status).toBe('completed');
  });

  it('a request does not expire while the nodes do not list their transactions', async () => {
    const world = createPaymentWorld();
    const { id } = world.open();
    const [node] = world.ports.nodes;
    if (!node) throw new Error('no node');
    const { signaturesFor } = node;
    Object.assign(node, { signaturesFor: () => Promise.reject(new Error('the node is down')) });
    world.state.now += CLOSES + MINUTE;
    await world.payments.onCron();
    expect(world.payments.find(id)?.detail).toBe('awaiting_payment');
    Object.assign(node, { signaturesFor });
    world.state.now += MINUTE;
    await world.payments.onCron();
    expect(world.payments.find(id)?.detail).toBe('expired');
  });
});

describe('an exact amount without a reference', () => {
  it.each([
    ['half a minute before the request, since clocks differ', -30, 'confirmed'],
    ['longer before it', -31, 'PAYMENT_NOT_BOUND'],
    ['at the last moment', CLOSES / 1_000, 'confirmed'],
    ['after it, because nothing else ties it to the request', CLOSES / 1_000 + 1, 'PAYMENT_NOT_BOUND'],
  ])(
    'a payment by exact amount is dated by its block time, or by its read time without one: %s',
    async (_name, after, outcome) => {
      for (const hasBlockTime of [true, false]) {
        const world = createPaymentWorld();
        const request = world.open();
        const paidAt = world.state.now + after * 1_000;
        world.state.now = hasBlockTime ? world.state.now + MINUTE : paidAt;
        const paid = world.pay(fee(request), [], { blockTime: hasBlockTime ? paidAt / 1_000 : null });
        expect(codeOf(await world.confirm(request.id, paid))).toBe(outcome);
      }
    },
  );

  it('a payment pays neither of two open requests that have the same exact amount after a restore', async () => {
    const world = createPaymentWorld();
    const [first, second] = [world.open(), world.open()];
    world.storage.exec('UPDATE requests SET fee = ? WHERE id = ?', first.feeLamports, second.id);
    const paid = world.pay(fee(first));
    for (const { id } of [first, second])
      expect(codeOf(await world.confirm(id, paid))).toBe('PAYMENT_NOT_BOUND');
    expect(world.created).toEqual([]);
  });
});

it('a payment with two references pays neither request, and the operator is alerted once', async () => {
  const world = createPaymentWorld();
  const [a, b] = [world.open(), world.open()];
  const paid = world.pay(fee(a) + fee(b), [a.reference, b.reference]);
  await world.payments.run();
  expect([a, b].map(({ id }) => world.payments.find(id)?.detail)).toEqual([
    'awaiting_payment',
    'awaiting_payment',
  ]);
  expect(codeOf(await world.confirm(a.id, paid))).toBe('PAYMENT_NOT_BOUND');
  expect(world.alarms).toEqual([
    {
      level: 'alarm',
      event: 'payment_unmatched',
      signature: paid,
      lamports: (fee(a) + fee(b)).toString(),
      reason: 'several_requests',
    },
  ]);
});

describe('amounts above or below the fee', () => {
  it('an incomplete payment waits for the last lamport, and shows the missing sum', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    const part = world.pay(fee(request) - 1n, [request.reference]);
    expect(await world.confirm(request.id, part)).toMatchObject({
      refusal: { code: 'PAYMENT_INCOMPLETE', details: { missingLamports: '1' } },
    });
    expect(world.created).toEqual([]);
    const rest = world.pay(1n, [request.reference]);
    expect(codeOf(await world.confirm(request.id, rest))).toBe('confirmed');
    expect(world.payments.find(request.id)).toMatchObject({
      receivedLamports: request.feeLamports,
      paymentSignature: rest,
      refunds: [],
    });
  });

  it('accepts at most fifty parts of a payment, and refunds the next at once unless it completes the fee', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    const payPart = async (lamports: bigint) =>
      codeOf(await world.confirm(request.id, world.pay(lamports, [request.reference])));
    for (let part = 1; part <= 50; part++) expect(await payPart(11_000n)).toBe('PAYMENT_INCOMPLETE');
    expect(owed(world, request.id)).toEqual([]);
    expect(await payPart(11_000n)).toBe('REFUND_DUE');
    expect(owed(world, request.id)).toEqual([['underpaid', '11000']]);
    expect(await payPart(fee(request) - 550_001n)).toBe('REFUND_DUE');
    expect(await payPart(fee(request) - 550_000n)).toBe('confirmed');
  });

  it('an amount above the fee is refunded once, because a second run on an ended request adds no refund', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    const part = world.pay(11_000n, [request.reference]);
    await world.confirm(request.id, part);
    world.state.now += CLOSES + MINUTE;
    await world.payments.run();
    expect(owed(world, request.id)).toEqual([['underpaid', '11000']]);
    expect(codeOf(await world.confirm(request.id, part))).toBe('REFUND_DUE');
    expect(owed(world, request.id)).toEqual([['underpaid', '11000']]);
  });
});

describe('a payment that is claimed before it is booked', () => {
  it('a payment whose name its request has consumed is not counted a second time', async () => {
    const world = createPaymentWorld();
    const { request, paid } = world.openPaid();
    world.journal.consumeOnce(`payment:${paid}`, `token:${request.id}`, world.state.now);
    await world.payments.run();
    expect(world.payments.find(request.id)).toMatchObject({
      detail: 'awaiting_payment',
      receivedLamports: '0',
    });
    expect(world.created).toEqual([]);
    expect(world.storage.exec('SELECT purpose FROM treasury_payments')).toEqual([{ purpose: null }]);
  });

  it('a payment that was used for another purpose buys nothing, and is recorded without a purpose', async () => {
    const world = createPaymentWorld();
    const { request, paid } = world.openPaid();
    world.journal.consumeOnce(`payment:${paid}`, 'asry:1', world.state.now);
    await world.payments.run();
    expect(world.payments.find(request.id)?.detail).toBe('awaiting_payment');
    expect(world.storage.exec('SELECT purpose FROM treasury_payments')).toEqual([{ purpose: null }]);
    expect(codeOf(await world.confirm(request.id, paid))).toBe('PAYMENT_ALREADY_USED');
  });
});

describe('confirm', () => {
  it('a confirm waits for the end of the creation as long as the caller allows, then says when to call again', async () => {
    const world = createPaymentWorld({ creates: 'never' });
    const { request, paid } = world.openPaid();
    const answer = await world.confirm(request.id, paid);
    expect(answer).toMatchObject({ refusal: { code: 'INVOICE_IN_PROGRESS', retryAfterSeconds: 5 } });
    expect(world.waits).toEqual([5_000]);
    world.finish(`token:${request.id}`, 'done');
    expect(codeOf(await world.confirm(request.id, paid))).toBe('confirmed');
    expect(world.created).toEqual([`token:${request.id}`]);
  });

  it('a confirm waits for the creation even if the caller allows only one millisecond', async () => {
    const world = createPaymentWorld();
    const { request, paid } = world.openPaid();
    expect(codeOf(await world.confirm(request.id, paid, 1))).toBe('confirmed');
  });

  it('a confirm returns that a refund is owed if the creation fails while the confirm waits', async () => {
    const world = createPaymentWorld({ creates: 'failed' });
    const { request, paid } = world.openPaid();
    expect(codeOf(await world.confirm(request.id, paid))).toBe('REFUND_DUE');
    expect(owed(world, request.id)).toEqual([['failed', request.feeLamports]]);
  });

  it('a confirm of a listing does not wait, because the token is listed as soon as it is paid', async () => {
    const world = createPaymentWorld();
    const { request, paid } = world.openPaid({ kind: 'listing' });
    expect(codeOf(await world.confirm(request.id, paid))).toBe('confirmed');
    expect([world.waits, world.created]).toEqual([[], []]);
  });

  it('a confirm without a wait records the payment and leaves the creation to the next run', async () => {
    const world = createPaymentWorld();
    const { request, paid: signature } = world.openPaid();
    expect(codeOf(await world.confirm(request.id, signature, 0))).toBe('INVOICE_IN_PROGRESS');
    expect(world.waits).toEqual([]);
    expect(world.payments.find(request.id)).toMatchObject({ detail: 'creating' });
    await world.payments.run();
    expect(codeOf(await world.confirm(request.id, signature))).toBe('confirmed');
  });

  it('a confirm does not read the chain once the payment is recorded', async () => {
    const world = createPaymentWorld({ creates: 'never' });
    const { request, paid } = world.openPaid();
    await world.confirm(request.id, paid);
    world.state.unreadable = true;
    expect(codeOf(await world.confirm(request.id, paid))).toBe('INVOICE_IN_PROGRESS');
  });

  it('a confirm does not find a request of the other kind', async () => {
    const world = createPaymentWorld();
    const { request, paid: signature } = world.openPaid();
    const asked = { id: request.id, kind: 'listing', signature, client: 'ip', waitMs: 0 } as const;
    expect(codeOf(await world.payments.confirm(asked))).toBe('NOT_FOUND');
  });

  it('a repeated confirm returns the same record without a call to a node, and changes nothing', async () => {
    const world = createPaymentWorld();
    const { request, paid } = world.openPaid();
    const first = await world.confirm(request.id, paid);
    world.state.now += 60 * MINUTE;
    world.state.unreadable = true;
    expect(await world.confirm(request.id, paid)).toEqual(first);
    const { row } = await mirrored(world, `invoices ${request.id}`);
    expect([row?.completedAt, row?.paidAt]).toEqual([row?.createdAt, row?.createdAt]);
  });

  it('a confirm of a completed request refuses the payments of others', async () => {
    const world = createPaymentWorld();
    const [done, other] = [world.open(), world.open()];
    await world.confirm(done.id, world.pay(fee(done), [done.reference]));
    const theirs = world.pay(fee(other), [other.reference]);
    expect(codeOf(await world.confirm(done.id, theirs))).toBe('PAYMENT_ALREADY_USED');
    expect(codeOf(await world.confirm(done.id, world.pay(5n)))).toBe('PAYMENT_NOT_BOUND');
  });

  it('a confirm of a second payment leaves the record unchanged, and all of that payment is owed back', async () => {
    const world = createPaymentWorld();
    const { request, paid } = world.openPaid();
    await world.confirm(request.id, paid);
    world.state.now += MINUTE;
    const again = world.pay(fee(request), [request.reference]);
    for (let calls = 0; calls < 2; calls++)
      expect(await world.confirm(request.id, again)).toMatchObject({
        type: 'confirmed',
        request: {
          paymentSignature: paid,
          completedAt: request.createdAt,
          refunds: [{ signature: again, reason: 'double', lamports: request.feeLamports, status: 'due' }],
        },
      });
  });
});

describe('the creation that a payment buys', () => {
  it('a paid request reserves the cost of its creation before the creation starts', async () => {
    const world = createPaymentWorld({ creates: 'never' });
    const request = world.open();
    await world.confirm(request.id, world.pay(fee(request), [request.reference]), 0);
    expect(world.journal.get(`token:${request.id}`)).toMatchObject({
      state: 'planned',
      amount: 0n,
      reserved: 5_000n,
      plan: { invoiceId: request.id, mint: `mint of ${request.id}` },
    });
  });

  it('a creation that is stopped waits and shows the reason, and starts when nothing stops it', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    world.state.stopped = 'operator';
    const paid = world.pay(fee(request), [request.reference]);
    expect(await world.confirm(request.id, paid)).toMatchObject({
      refusal: { code: 'INVOICE_IN_PROGRESS', details: { reason: 'stopped_operator' } },
    });
    expect(world.payments.find(request.id)).toMatchObject({ detail: 'creating', reason: 'stopped_operator' });
    world.state.stopped = undefined;
    await world.payments.run();
    expect(world.payments.find(request.id)).toMatchObject({ status: 'completed', reason: null, tokenId: 1 });
  });

  it('a creation is recorded once when the background run ends it during a confirm', async () => {
    const world = createPaymentWorld();
    const { request, paid } = world.openPaid();
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    world.state.driving = () => {
      asked.resolve();
      return answered.promise;
    };
    const early = world.confirm(request.id, paid);
    await asked.promise;
    world.state.driving = undefined;
    await world.payments.run();
    expect(world.payments.find(request.id)).toMatchObject({ status: 'completed', tokenId: 1 });
    answered.resolve();
    expect(codeOf(await early)).toBe('confirmed');
    expect(world.payments.find(request.id)).toMatchObject({ status: 'completed', reason: null, tokenId: 1 });
  });

  it('a payment is owed back once when two concurrent runs find that its creation cannot be made', async () => {
    const world = createPaymentWorld({ creates: 'failed' });
    const { request } = world.openPaid();
    await Promise.all([world.payments.run(), world.payments.run()]);
    expect(owed(world, request.id)).toEqual([['failed', request.feeLamports]]);
  });

  it('the reason of a failed creation is stored with its request', async () => {
    const world = createPaymentWorld();
    world.state.stopped = 'operator';
    const request = world.open();
    await world.confirm(request.id, world.pay(fee(request), [request.reference]));
    world.finish(`token:${request.id}`, 'failed');
    await world.payments.run();
    expect(world.payments.find(request.id)).toMatchObject({
      detail: 'refund_due',
      reason: 'stopped_operator',
    });
  });

  it('a paid token creation is listed with a fee of zero, and a paid listing is stored with its own fee', async () => {
    const world = createPaymentWorld();
    const [token, listing] = [world.open(), world.open({ kind: 'listing' })];
    for (const request of [token, listing])
      await world.confirm(request.id, world.pay(fee(request), [request.reference]));
    const made = await mirrored(world, `listings ${token.id}`);
    expect(made).toMatchObject({ columns: { status: 'confirmed' }, view: { feeLamports: '0' } });
    expect(made.row).toBeUndefined();
    expect(await mirrored(world, `listings ${listing.id}`)).toMatchObject({
      columns: { status: 'confirmed' },
      view: { feeLamports: listing.feeLamports },
      row: { id: listing.id, state: 'completed' },
    });
  });
});

describe('a request', () => {
  it('a request has a Solana address as its reference, and a mint that only this request can create', () => {
    const { reference, mintAddress, id, tokenId } = createPaymentWorld().open();
    expect(isAddress(reference)).toBe(true);
    expect([mintAddress, tokenId]).toEqual([`mint of ${id}`, null]);
  });

  it('a request numbers its changes from one, so that D1 and a restored journal know the newer row', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    expect((await mirrored(world, `invoices ${request.id}`)).row?.changes).toBe(1);
    await world.confirm(request.id, world.pay(1_000n, [request.reference]));
    expect((await mirrored(world, `invoices ${request.id}`)).row?.changes).toBe(2);
  });

  it('two open requests never share an amount, and a closed request frees its amount', async () => {
    const world = createPaymentWorld();
    world.state.drawn = [0, 7];
    const request = world.open();
    expect(request.feeLamports).toBe('20000080');
    const asked = {
      kind: 'token',
      subject: { costLamports: '5000' },
      baseFeeLamports: 20_000_000n,
      client: 'another',
    } as const;
    expect(world.payments.open(asked)).toMatchObject({
      refusal: {
        code: 'TOO_MANY_OPEN_REQUESTS',
        message: 'No unique payment amount is available right now. Retry in a minute.',
        retryAfterSeconds: 600,
      },
    });
    await world.confirm(request.id, world.pay(fee(request), [request.reference]));
    expect(world.open().feeLamports).toBe('20000080');
  });
});

describe('money that a bridge may have returned, where treasury and reserve share an address', () => {
  /** An operation is unsettled with about the sum of a request, whose exact amount then arrives. */
  async function arrival(p: { reserve?: string; unsettled: (fee: bigint) => bigint; named?: boolean }) {
    const world = createPaymentWorld();
    const request = world.open();
    const swap = settling({
      id: 'swap:a',
      signer: p.reserve ?? TREASURY,
      unsettled: lamports(p.unsettled(fee(request))),
      createdAt: world.state.now,
    });
    world.storage.transaction(() => world.journal.insert(swap));
    const paid = world.pay(fee(request), p.named ? [request.reference] : []);
    await world.payments.run();
    return { world, request, paid };
  }
  const isPaid = ({ world, request }: Awaited<ReturnType<typeof arrival>>) =>
    world.payments.find(request.id)?.paidAt !== null;

  it('money that a bridge may have returned buys nothing, and the operator is alerted once after some minutes', async () => {
    const arrived = await arrival({ unsettled: (sum) => sum + 20_000n });
    expect(arrived.world.alarms).toEqual([]);
    for (let minutes = 0; minutes < 10; minutes++) {
      arrived.world.state.now += 60_000;
      await arrived.world.payments.run();
    }
    expect(isPaid(arrived)).toBe(false);
    expect(arrived.world.alarms).toMatchObject([
      { event: 'payment_unbooked', signature: arrived.paid, error: 'may_be_returned' },
    ]);
  });

  it('a caller who names such a payment hears that it is not booked yet', async () => {
    const { world, request, paid } = await arrival({ unsettled: (sum) => sum + 20_000n });
    expect(await world.confirm(request.id, paid)).toMatchObject({
      refusal: { code: 'PAYMENT_NOT_FINAL', message: expect.stringContaining('bridge returned') },
    });
  });

  it.each<[string, Parameters<typeof arrival>[0]]>([
    ['names the request', { unsettled: (sum) => sum + 20_000n, named: true }],
    ['is more than was sent', { unsettled: (sum) => sum - 1n }],
    ['is far less than was sent', { unsettled: (sum) => sum * 2n }],
    [
      'arrives at a treasury address other than the reserve',
      { unsettled: (sum) => sum + 20_000n, reserve: 'reserve' },
    ],
  ])(
    'a payment that %s is accepted at once, because it cannot be money that a bridge returned',
    async (_name, p) => {
      expect(isPaid(await arrival(p))).toBe(true);
    },
  );

  it.each([
    ['by itself', false],
    ['with a confirm', true],
  ])(
    'a payment that a bridge may have returned is accepted %s once the swap has settled',
    async (_how, confirms) => {
      const arrived = await arrival({ unsettled: (sum) => sum + 20_000n });
      const { world, request, paid } = arrived;
      const swap = world.journal.get('swap:a');
      if (swap)
        world.journal.update(
          swap,
          { ...swap, state: 'done', unsettled: lamports(0n), reserved: lamports(0n), dueAt: null },
          world.state.now,
        );
      if (confirms) expect(codeOf(await world.confirm(request.id, paid))).toBe('confirmed');
      world.state.now += 60_000;
      await world.payments.run();
      expect(isPaid(arrived)).toBe(true);
      expect(world.alarms).toEqual([]);
    },
  );
});

describe('open sales', () => {
  it('reports the number and the total cost of open token requests as open sales', async () => {
    const world = createPaymentWorld();
    const paid = world.open();
    await world.confirm(paid.id, world.pay(fee(paid), [paid.reference]));
    for (const _open of [1, 2, 3]) world.open();
    world.open({ kind: 'listing' });
    expect(world.context.requests.openSales('token')).toEqual({ count: 3n, lamports: 15_000n });
  });

  it('the sum of open sales is computed without reading the text of any request', () => {
    const { storage } = createPaymentWorld();
    const plans: string[] = [];
    const store = new RequestStore({
      ...storage,
      exec(query, ...params) {
        const plan = query.startsWith('SELECT') ? storage.exec(`EXPLAIN QUERY PLAN ${query}`, ...params) : [];
        plans.push(...plan.map(({ detail }) => String(detail)));
        return storage.exec(query, ...params);
      },
    });
    store.openSales('token');
    expect(plans).toEqual(['SEARCH requests USING COVERING INDEX requests_cost (state=? AND kind=?)']);
  });
});

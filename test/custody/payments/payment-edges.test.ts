/** The exact limits of a payment's effect: one lamport, millisecond or second more or less. */
import { describe, expect, it, vi } from 'vitest';
import { isAddress } from '../../../src/chain/solana/address.ts';
import { type PaymentRequest, RequestStore } from '../../../src/custody/payments/request-store.ts';
import { scenes } from '../../kit/scenes.ts';
import { play } from './payment-scenes.ts';
import { createPaymentWorld, fee, type PaymentWorld } from './payment-world.ts';

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

describe('a request whose treasury is no longer configured', () => {
  it.each(
    scenes(`
      a payment to an earlier treasury is found by its reference
        | open a; treasury other; pay a fee; run; detail a = completed; owed a = none
      a confirmation records a payment without a reference to an earlier treasury
        | open a; treasury other; pay a fee unnamed; confirm a a1 = confirmed
      an excess paid to an earlier treasury is owed back and refunded
        | open a; treasury other; pay a fee+20000; run; owed a = overpaid 20000; refund a = paid; refunds a = a1 paid
      money sent to the new treasury with the reference of an earlier request is listed for the operator
        | open a; treasury other; pay a 6000000 to other; run; received a = 0; unmatched = a1 6000000 payer
      after a change back to the first treasury, reads again a transaction that paid the second treasury nothing
        | open a; treasury other; pay a 5000000 unnamed by other; run; run; confirm a a1 = PAYMENT_NOT_BOUND; unmatched = none; treasury treasury; run; unmatched = a1 5000000 other
      a request expires only after a day while the list of another treasury is read
        | open a; run; treasury other; wait 41m; cron; cron; detail a = awaiting_payment; wait 1d; cron; detail a = expired
      a payment in time is recorded after its treasury is configured again
        | open a; run; pay a fee unnamed; treasury other; wait 41m; cron; cron; treasury treasury; run; detail a = completed
      the walk of a treasury that is configured again continues where it stopped
        | open a; run; treasury other; pay a 5000000 unnamed; pay a 6000000 unnamed to other; run; run; treasury treasury; run; unmatched = a2 6000000 payer, a1 5000000 payer
    `),
  )('%s', (_title, steps = '') => play(steps));

  it('a request shows the treasury it was opened with', () => {
    const world = createPaymentWorld();
    const { id } = world.open();
    Object.assign(world.context, { treasuryAddress: 'other' });
    expect([world.payments.find(id)?.payee, world.open().payee]).toEqual(['treasury', 'other']);
  });
});

describe('the time in which a request can be paid', () => {
  it('a request shows that its payment period is thirty minutes', () => {
    const { createdAt, expiresAt } = createPaymentWorld().open();
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * MINUTE);
  });

  it.each(
    scenes(`
      a payment without a block time is in time while its request is open, because nothing shows that it is late
        | open a; pay a fee block none; set unreadable yes; run; wait 40m1ms; set unreadable; confirm a a1 = confirmed; owed a = none
      a payment without a block time is late once its request has expired
        | open a; wait 41m; run; detail a = expired; pay a fee block none; confirm a a1 = REFUND_DUE; owed a = late fee
      a payment in a block of the last second is in time, even if it is read later
        | open a; wait 40m5s; pay a fee block -5s; confirm a a1 = confirmed; owed a = none
      a payment in a block one second after the last second is late
        | open a; wait 40m5s; pay a fee block -4s; confirm a a1 = REFUND_DUE; owed a = late fee
      a request expires when a search starts more than half a minute after it closed
        | open a; wait 40m30s; cron; detail a = awaiting_payment; wait 5s; cron; detail a = expired
      a request does not expire before a search that started half a minute after it closed
        | open a; wait 40m10s; cron; detail a = awaiting_payment; pay a fee unnamed block -10s; wait 1m; run; detail a = completed
      the row of an unpaid request is kept for exactly seven more days
        | open a; wait 40m7d; run; detail a = expired; wait 1ms; run; detail a = gone
      the token of an unpaid listing is kept for eight days after its newest request
        | open a listing mint; wait 5d; open b listing mint; token b = 1; wait 8d; sweep; tokens = 1; wait 1ms; sweep; tokens = 0
    `),
  )('%s', (_title, steps = '') => play(steps));

  it('a request does not expire while the nodes do not list their transactions', async () => {
    const world = createPaymentWorld();
    const { id } = world.open();
    const lists = vi
      .spyOn(Object(world.ports.nodes[0]), 'signaturesFor')
      .mockRejectedValue(new Error('down'));
    world.state.now += CLOSES + MINUTE;
    await world.payments.onCron();
    expect(world.payments.find(id)?.detail).toBe('awaiting_payment');
    lists.mockRestore();
    world.state.now += MINUTE;
    await world.payments.onCron();
    expect(world.payments.find(id)?.detail).toBe('expired');
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
});

describe('an exact amount without a reference', () => {
  it.each(
    scenes(`
      a payment by exact amount may be half a minute older than its request, because clocks differ
        | open a; wait 1m; pay a fee unnamed block -90s; confirm a a1 = confirmed
      a payment by exact amount that is more than half a minute older than its request pays nothing
        | open a; wait 1m; pay a fee unnamed block -91s; confirm a a1 = PAYMENT_NOT_BOUND
      a payment by exact amount that is a millisecond more than half a minute older than its request pays nothing
        | wait 1ms; open a; wait 1m; pay a fee unnamed block -90s; confirm a a1 = PAYMENT_NOT_BOUND
      a payment by exact amount is in time at the last moment
        | open a; wait 41m; pay a fee unnamed block -60s; confirm a a1 = confirmed
      a payment by exact amount without a block time is in time while its request is open
        | open b; wait 40m1s; pay b fee unnamed block none; confirm b b1 = confirmed
      a payment by exact amount after the last moment pays nothing, because nothing else ties it to the request
        | open a; wait 41m; pay a fee unnamed block -59s; confirm a a1 = PAYMENT_NOT_BOUND
      a payment by exact amount without a block time pays nothing once its request has expired
        | open b; wait 41m; run; pay b fee unnamed block none; confirm b b1 = PAYMENT_NOT_BOUND
    `),
  )('%s', (_title, steps = '') => play(steps));

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

it.each(
  scenes(`
    an incomplete payment waits for the last lamport, and shows the missing sum
      | open a; pay a fee-1; confirm a a1 = PAYMENT_INCOMPLETE missingLamports:1; created = none; pay a 1; confirm a a2 = confirmed; received a = fee; bought a = a2; owed a = none
    an amount is refunded once, because a second run on an ended request adds no refund
      | open a; pay a 11000; confirm a a1 = PAYMENT_INCOMPLETE; wait 41m; run; owed a = underpaid 11000; confirm a a1 = REFUND_DUE; owed a = underpaid 11000
    a payment that its request has already used is not counted again
      | open a; pay a fee; consume a1 token:a; run; detail a = awaiting_payment; received a = 0; created = none; purposes = null
    a payment that was used for another purpose buys nothing, and is recorded without a purpose
      | open a; pay a fee; consume a1 asry:1; run; detail a = awaiting_payment; purposes = null; confirm a a1 = PAYMENT_ALREADY_USED purpose:asry
    a payment that is a swap's refund is bound to no request
      | open a; pay a fee; consume a1 swap:1; run; confirm a a1 = PAYMENT_NOT_BOUND
    a payment with two references pays neither request, and the operator is alerted once
      | open a; open b; pay a 40000000 with b; run; detail a = awaiting_payment; detail b = awaiting_payment; confirm a a1 = PAYMENT_NOT_BOUND; confirm b a1 = PAYMENT_NOT_BOUND; alarms = payment_unmatched a1 several_requests
    dust with two references raises no alarm
      | open a; open b; pay a 10000 with b; run; alarms = none
    a confirm call waits for the end of the creation as long as the caller allows, then says when to call again
      | set creates never; open a; pay a fee; confirm a a1 = INVOICE_IN_PROGRESS retry:5; waits = 5000; finish a done; confirm a a1 = confirmed; created = a
    a confirm call waits for the creation even if the caller allows only one millisecond
      | open a; pay a fee; confirm a a1 1ms = confirmed
    a confirm call returns that a refund is owed if the creation fails while the call waits
      | set creates failed; open a; pay a fee; confirm a a1 = REFUND_DUE; owed a = failed fee
    a confirm call for a listing does not wait, because the token is listed as soon as it is paid
      | open a listing; pay a fee; confirm a a1 = confirmed; waits = none; created = none
    a confirm call without a wait records the payment and leaves the creation to the next run
      | open a; pay a fee; confirm a a1 0s = INVOICE_IN_PROGRESS; waits = none; detail a = creating; run; confirm a a1 = confirmed
    a confirm call does not read the chain once the payment is recorded
      | set creates never; open a; pay a fee; confirm a a1; set unreadable yes; confirm a a1 = INVOICE_IN_PROGRESS
    a confirm call looks up a payment once if it is final
      | open a; pay a fee; confirm a a1 = confirmed; lookups = confirmed 5000 15000
    a confirm call leaves no row of a transaction that pays the treasury nothing
      | open a; pay a 0; confirm a a1 = PAYMENT_NOT_BOUND; pay a 5 unnamed to other; confirm a a2 = PAYMENT_NOT_BOUND; purposes = none
    a confirm call refuses a payment that is older than the journal
      | open a; pay a fee; birth; confirm a a1 = OLDER_THAN_RECORDS; detail a = awaiting_payment
    a creation that has ended changes nothing if it ends again
      | open a; pay a fee; confirm a a1 = confirmed; end-again a failed; detail a = completed; owed a = none
    an earlier creation of a request changes nothing when it ends
      | set creates never; open a; pay a fee; confirm a a1; end-again a failed :0; detail a = creating; owed a = none
    a confirm call does not find a request of the other kind
      | open a; pay a fee; confirm a a1 5s listing = NOT_FOUND
    a confirm call for a completed request refuses other requests' payments
      | open a; open b; pay a fee; confirm a a1 = confirmed; pay b fee; confirm a b1 = PAYMENT_ALREADY_USED purpose:token; pay a 5 unnamed; confirm a a2 = PAYMENT_NOT_BOUND
    a confirm call for a second payment leaves the record unchanged, and all of that payment is owed back
      | open a; pay a fee; confirm a a1; wait 1m; pay a fee; confirm a a2 = confirmed; confirm a a2 = confirmed; bought a = a1; owed a = double fee; refunds a = a2 due
    a creation that is stopped waits and shows the reason, and starts when nothing stops it
      | open a; set stopped operator; pay a fee; confirm a a1 = INVOICE_IN_PROGRESS reason:stopped_operator; detail a = creating; reason a = stopped_operator; set stopped; run; detail a = completed; reason a = null; token a = 1
    a payment is owed back once when two concurrent runs find that its creation cannot be made
      | set creates failed; open a; pay a fee; run-twice; owed a = failed fee
    the reason of a failed creation is stored with its request
      | set stopped operator; open a; pay a fee; confirm a a1; finish a failed; run; detail a = refund_due; reason a = stopped_operator
  `),
)('%s', (_title, steps = '') => play(steps));

it('accepts at most fifty parts of a payment, and refunds the next part at once unless it completes the fee', async () => {
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

it('a repeated confirm call returns the same record without a call to a node, and changes nothing', async () => {
  const world = createPaymentWorld();
  const { request, paid } = world.openPaid();
  const first = await world.confirm(request.id, paid);
  world.state.now += 60 * MINUTE;
  world.state.unreadable = true;
  expect(await world.confirm(request.id, paid)).toEqual(first);
  const { row } = await mirrored(world, `invoices ${request.id}`);
  expect([row?.completedAt, row?.paidAt]).toEqual([row?.createdAt, row?.createdAt]);
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

  it('a creation is recorded once when the background run ends it during a confirm call', async () => {
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

  it('no two requests have the same amount until two hours after one has closed, so a late payment cannot pay the other', async () => {
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
    const refused = {
      refusal: {
        code: 'TOO_MANY_OPEN_REQUESTS',
        message: 'No unique payment amount is available right now. Retry in a minute.',
        retryAfterSeconds: 600,
      },
    };
    expect(await world.payments.open(asked)).toMatchObject(refused);
    await world.confirm(request.id, world.pay(fee(request), [request.reference]));
    world.state.now += 40 * 60_000 + 2 * 3_600_000 - 1;
    expect(await world.payments.open(asked)).toMatchObject(refused);
    world.state.now += 1;
    expect(world.open().feeLamports).toBe('20000080');
  });
});

// Treasury and reserve share an address, and a swap may be returned with about the sum of a request.
it.each(
  scenes(`
    money that a bridge may have returned buys nothing, and the operator is alerted once after some minutes
      | open a; swap 100 20000; pay a fee unnamed; run; alarms = none; runs 10; detail a = awaiting_payment; received a = 0; alarms = payment_unbooked a1 may_be_returned
    the caller of a payment that a bridge may have returned is told that it is not recorded yet
      | open a; swap 100 20000; pay a fee unnamed; run; confirm a a1 = PAYMENT_NOT_FINAL; said bridge returned = true
    a payment in time buys its token even if the swap that it may be a refund of settles after the request has closed
      | open a; swap 100 20000; wait 1m; pay a fee unnamed; run; runs 45; detail a = awaiting_payment; settle; runs 70;
        detail a = completed
    a payment that names the request is accepted at once, because it cannot be money that a bridge returned
      | open a; swap 100 20000; pay a fee; run; bought a = a1
    a payment larger than the SOL of the swap is accepted at once, because a bridge cannot have returned it
      | open a; swap 100 -1; pay a fee unnamed; run; bought a = a1
    a payment far smaller than the SOL of the swap is accepted at once, because a bridge cannot have returned it
      | open a; swap 200 0; pay a fee unnamed; run; bought a = a1
    a payment to a treasury other than the reserve is accepted at once, because it cannot be money that a bridge returned
      | open a; swap 100 20000 reserve; pay a fee unnamed; run; bought a = a1
    a payment that a bridge may have returned is accepted by itself once the swap has settled
      | open a; swap 100 20000; pay a fee unnamed; run; settle; runs 1; bought a = a1; alarms = none
    a payment that a bridge may have returned is accepted with a confirm call once the swap has settled
      | open a; swap 100 20000; pay a fee unnamed; run; settle; confirm a a1 = confirmed; runs 1; bought a = a1; alarms = none
  `),
)('%s', (_title, steps = '') => play(steps));

describe('open sales', () => {
  it('reports the number and the total cost of open token requests as open sales', async () => {
    const world = createPaymentWorld();
    const paid = world.open();
    await world.confirm(paid.id, world.pay(fee(paid), [paid.reference]));
    for (const _open of [1, 2, 3]) world.open();
    world.open({ kind: 'listing' });
    expect(world.context.requests.openSales('token', world.state.now)).toEqual({
      count: 3n,
      lamports: 15_000n,
    });
  });

  it('requests that were not paid in time do not block new requests, even if they cannot expire while the nodes are down', async () => {
    const world = createPaymentWorld();
    vi.spyOn(Object(world.ports.nodes[0]), 'signaturesFor').mockRejectedValue(new Error('down'));
    const { open, state, context } = world;
    for (let n = 0; n < 10; n++) open({ client: 'ip' });
    const used = () => [
      context.requests.openSales('token', state.now).count,
      context.requests.openBudget(state.now).check('ip', state.now).ok,
    ];
    state.now += CLOSES - 1;
    await world.payments.onCron();
    expect(used()).toEqual([10n, false]);
    state.now += 1;
    await world.payments.onCron();
    expect(used()).toEqual([0n, true]);
    open({ client: 'ip' });
    expect(used()).toEqual([1n, true]);
  });

  it('a refusal does not read open requests, so 2,000 of them do not make it slow', () => {
    const { storage, open, state } = createPaymentWorld();
    for (let n = 0; n < 10; n++) open({ client: 'mallory' });
    let rows = 0;
    const store = new RequestStore({
      ...storage,
      exec(query, ...params) {
        const found = storage.exec(query, ...params);
        if (query.includes('FROM requests')) rows += found.length;
        return found;
      },
    });
    const refuses = () => [
      store.openBudget(state.now).check('mallory', state.now).ok,
      store.openSales('token', state.now).count,
    ];
    expect([refuses(), rows > 0]).toEqual([[false, 10n], true]);
    rows = 0;
    expect([refuses(), rows]).toEqual([[false, 10n], 0]);
    const [request] = store.newest(1);
    if (request) store.put({ ...request, state: 'expired' });
    expect(refuses()).toEqual([true, 9n]);
  });

  it("the sum of open sales is computed without reading the requests' rows", () => {
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
    store.openSales('token', 0);
    expect(plans).toEqual([
      'SEARCH requests USING COVERING INDEX requests_sales (state=? AND kind=? AND closes_at>?)',
    ]);
  });
});

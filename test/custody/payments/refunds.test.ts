import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import { oweRefund } from '../../../src/custody/payments/owed.ts';
import { cases } from '../../cases.ts';
import { signingOf } from '../../kit/sample-operations.ts';
import { scenes } from '../../kit/scenes.ts';
import { play } from './payment-scenes.ts';
import { createPaymentWorld, fee, type PaymentWorld, signature } from './payment-world.ts';

/** A completed request with this overpayment. */
async function overpaid(world: PaymentWorld, excess: bigint) {
  const request = world.open();
  const paid = world.pay(fee(request) + excess, [request.reference]);
  await world.payments.run();
  return { request, paid };
}

const outcomes = async (world: PaymentWorld, id: string) =>
  (await world.payments.commands.refund(id)).rows?.map(({ outcome }) => outcome);

describe('a refund', () => {
  it('a refund pays the recorded amount to the recorded payer, and the request shows it as paid', async () => {
    const world = createPaymentWorld();
    const { request, paid } = await overpaid(world, 50_000n);
    const id = `refund:${paid}:1`;
    expect(await world.payments.commands.refund(request.id)).toMatchObject({
      ok: true,
      rows: [{ outcome: 'paid', operation: id, refund: `signature-${id}` }],
    });
    expect(world.journal.get(id)).toMatchObject({
      kind: 'refund',
      amount: 50_000n,
      plan: { payer: 'payer', payment: paid },
    });
    expect(world.payments.find(request.id)?.refunds).toMatchObject([
      { status: 'paid', refundSignature: `signature-${id}` },
    ]);
  });

  it('a refund is paid once if another command starts it while the chain is read', async () => {
    const world = createPaymentWorld();
    world.state.refunds = 'never';
    const { request, paid } = await overpaid(world, 50_000n);
    world.state.reading = async () => {
      world.state.reading = undefined;
      await world.payments.commands.refund(paid);
    };
    await world.payments.commands.refund(request.id);
    expect(world.refunded).toEqual([`refund:${paid}:1`]);
    expect(world.journal.get(`refund:${paid}:2`)).toBeUndefined();
  });

  it('the refund command does not pay a refund that grew before its operation started', async () => {
    const world = createPaymentWorld();
    const { request, paid } = await overpaid(world, 50_000n);
    const { context } = world;
    const { readBalance } = context;
    Object.assign(context, {
      async readBalance(slot: bigint) {
        oweRefund(context, request.id, { signature: paid, payer: 'payer' }, 20_000n, 'double');
        return readBalance(slot);
      },
    });
    expect(await world.payments.commands.refund(request.id)).toMatchObject({
      ok: false,
      rows: [{ outcome: 'not paid: the refund has changed in the meantime; list it again', operation: null }],
    });
    expect(world.refunded).toEqual([]);
  });

  it('a started refund is shown with its signature and the reason why it waits', async () => {
    const world = createPaymentWorld();
    world.state.refunds = 'never';
    const { request, paid } = await overpaid(world, 50_000n);
    await world.payments.commands.refund(request.id);
    const operation = world.journal.get(`refund:${paid}:1`);
    if (!operation) throw new Error('nothing has begun');
    expect(operation.reserved).toBe(50_000n + 5_400n);
    const stopped = { type: 'stopped', by: 'operator' } as const;
    world.journal.update(operation, { ...operation, reason: stopped, signing: signingOf('one') }, 0);
    expect(await world.payments.commands.refund(request.id)).toMatchObject({
      ok: true,
      rows: [{ outcome: 'on its way (stopped_operator)', refund: 'signature-one' }],
    });
  });

  it('a refund ends once, with the first outcome of its own operation, at the time of that block', async () => {
    const world = createPaymentWorld();
    const { requests } = world.context;
    const { request, paid } = await overpaid(world, 50_000n);
    expect(requests.refund(paid)?.changes).toBe(1);
    world.state.refunds = 'never';
    await world.payments.commands.refund(request.id);
    const operation = world.journal.get(`refund:${paid}:1`);
    if (!operation) throw new Error('nothing has begun');
    const end = (change: Partial<Operation>) =>
      world.payments.kinds.refund?.onEnd?.({ ...operation, state: 'done', ...change });
    end({ id: `refund:${paid}:2`, state: 'failed' });
    expect(requests.refund(paid)?.state).toBe('begun');
    const landing = { slot: 1n, blockTime: 1_800_000_000, fee: lamports(0n), debit: lamports(0n) };
    end({ landing });
    end({ state: 'failed' });
    expect(requests.refund(paid)).toMatchObject({ state: 'paid', paidAt: 1_800_000_000_000 });
  });

  it('a refund is not paid while the balance of the reserve cannot be read', async () => {
    const world = createPaymentWorld();
    const { request } = await overpaid(world, 50_000n);
    const readBalance = () => Promise.reject(upstreamFailed('solana-rpc', 'timeout'));
    Object.assign(world.context, { readBalance });
    expect(await outcomes(world, request.id)).toEqual(['not paid: the chain cannot be read (timeout)']);
  });

  it('one command pays at most a hundred refunds of a request', async () => {
    const world = createPaymentWorld();
    const { request } = await overpaid(world, 50_000n);
    const [due] = world.context.requests.refundsOf(request.id, 1);
    for (let n = 0; due && n < 100; n++) world.context.requests.putRefund({ ...due, id: `due-${n}` });
    expect((await world.payments.commands.refund(request.id)).rows).toHaveLength(100);
  });

  it('returns the paid refund when another call paid it first, and does not overwrite its row', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    const [first, second] = [1, 2].map(() => world.pay(3_000_000n, [request.reference]));
    await world.payments.run();
    world.state.now += 41 * 60_000;
    await world.payments.run();
    world.state.stopped = 'operator';
    world.state.stopping = async () => {
      world.state.stopped = undefined;
      await world.payments.commands.refund(String(world.payments.find(request.id)?.refunds[1]?.signature));
    };
    expect(await outcomes(world, request.id)).toEqual(['not paid: signing is stopped (operator)', 'paid']);
    expect(world.refunded).toHaveLength(1);
    expect([`refund:${first}:1`, `refund:${second}:1`]).toContain(world.refunded[0]);
    expect(world.payments.find(request.id)?.refunds.map(({ status }) => status)).toEqual(['due', 'paid']);
  });
});

it.each(
  scenes(`
    a refund is paid once for any number of commands, which may name its request or its payment
      | open a; pay a fee+50000; run; set refunds never; refund a = on its way; refund a1 = on its way; refunded = a1:1; finish a1:1 done; run; refund a = paid; refunded = a1:1
    a refund whose operation moved nothing is due again, and a new operation pays it
      | open a; pay a fee+50000; run; set refunds failed; refund a; refunds a = a1 due; set refunds done; refund a = paid; refunded = a1:1, a1:2; refunds a = a1 paid
    refunds stop at the daily limit, and continue the day after
      | open a; open b; pay a fee+60000000; pay b fee+60000000; run; refund a = paid; refund b = not paid: The limit on SOL refunded in a day, 0.1 SOL, would be exceeded: 0.06 SOL are already used.; wait 25h; refund b = paid
    two refunds of one payment become one transaction
      | set creates never; open a; pay a fee+50000; run; finish a failed; run; refund a; refunded = a1:1; moved = fee+50000
    an excess of 10,000 lamports is not owed back
      | open a; pay a fee+10000; run; owed a = none; open b; pay b fee+10001; run; owed b = overpaid 10001
    two refunds of one payment are two transactions if the first refund has already been tried
      | set creates never; open a; pay a fee+50000; run; set refunds failed; refund a; finish a failed; run; owed a = overpaid 50000, failed fee
    two refunds of one payment are two transactions if the first refund has already been sent
      | set creates never; open a; pay a fee+50000; run; refund a; finish a failed; run; refund a; refunded = a1:1, a1.2:1; moved = fee+50000
    a refund of a request paid by several payers returns each part to its payer
      | open a; pay a 3000000 by alice; pay a 3000000 by bob; run; wait 41m; run; refund a; payers = alice, bob
    nothing is paid back to the wallet of an exchange
      | open a; pay a fee+90000 by exchange; run; wait 41m; run; refund a = an exchange's wallet paid: ask the customer and send it by hand; refunded = none
    a refund is paid only after signing is allowed again and the chain can be read
      | open a; pay a fee+50000; run; set stopped operator; refund a = not paid: signing is stopped (operator); set stopped; set unreadable yes; refund a = not paid: the chain cannot be read (unexpected); set unreadable; refund a = paid
    nothing is paid back for an unknown id
      | refund unknown = false
  `),
)('%s', (_title, steps = '') => play(steps, createPaymentWorld({ heldPayers: ['exchange'] })));

describe('a refund that is not paid', () => {
  it('a payment by several accounts together is not paid back', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    const lamports = fee(request) + 90_000n;
    world.pay(lamports, [request.reference], {
      accounts: ['a', 'b', 'treasury', request.reference],
      signers: ['a', 'b'],
      preLamports: [10n ** 12n, 10n ** 12n, 0n, 0n],
      postLamports: [10n ** 12n - lamports + 1_000_000n - 5_000n, 10n ** 12n - 1_000_000n, lamports, 0n],
    });
    await world.payments.run();
    world.state.now += 41 * 60_000;
    await world.payments.run();
    expect(await outcomes(world, request.id)).toEqual(['several accounts paid: send it by hand']);
    expect(world.refunded).toEqual([]);
  });

  it.each([
    ['another payer', { payer: 'thief' }, 'not paid: the chain shows a different payer'],
    [
      'a larger amount',
      { lamports: '900000000' },
      'not paid: the recorded refund is larger than the payment',
    ],
    ['another payment', { signature: signature(77) }, 'not paid: the chain does not show this payment'],
  ])('a refund is not paid if its row has %s than the chain shows', async (_name, forged, outcome) => {
    const world = createPaymentWorld();
    const { request, paid } = await overpaid(world, 50_000n);
    const [stored] = world.storage.exec('SELECT row FROM refunds WHERE signature = ?', paid);
    const row = JSON.stringify({ ...JSON.parse(String(stored?.row)), ...forged });
    world.storage.exec('UPDATE refunds SET row = ? WHERE signature = ?', row, paid);
    expect(await outcomes(world, request.id)).toEqual([outcome]);
    expect(world.refunded).toEqual([]);
  });
});

it('refunds never exceed their payment, and no refund is paid twice, in any order of events', {
  tags: ['scaled'],
}, async () => {
  const steps = fc.array(
    fc.record({
      act: fc.constantFrom('pay', 'payOver', 'refund', 'run', 'wait', 'finish'),
      who: fc.nat(2),
      end: fc.constantFrom('done' as const, 'failed' as const),
    }),
    { minLength: 5, maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.constantFrom('done' as const, 'failed' as const),
      async (schedule, creates) => {
        const world = createPaymentWorld({ creates });
        world.state.refunds = 'never';
        const requests = [world.open(), world.open(), world.open({ kind: 'listing' })];
        const ended = new Map<string, string>();
        for (const { act, who, end } of schedule) {
          const request = requests[who];
          if (!request) continue;
          if (act === 'pay') world.pay(9_000_000n, [request.reference]);
          if (act === 'payOver') world.pay(fee(request) + 30_000n, [request.reference]);
          if (act === 'refund') await world.payments.commands.refund(request.id);
          if (act === 'run') await world.payments.run();
          if (act === 'wait') world.state.now += 15 * 60_000;
          const open = world.refunded.find((id) => !ended.has(id));
          if (act === 'finish' && open) {
            ended.set(open, end);
            world.finish(open, end);
          }
        }
        const moved = new Map<string, bigint>();
        for (const id of world.refunded) {
          const row = world.journal.get(id);
          const payment = String(row?.plan.payment);
          moved.set(payment, (moved.get(payment) ?? 0n) + (row?.amount ?? 0n));
        }
        for (const { signature: paid, postLamports } of world.chain)
          expect(moved.get(paid) ?? 0n).toBeLessThanOrEqual(postLamports[1] ?? 0n);
        // One operation of a refund at a time, and none after the one that paid it.
        const byRefund = Map.groupBy(world.refunded, (id) => id.slice(0, id.lastIndexOf(':')));
        for (const ids of byRefund.values())
          expect(ids.slice(0, -1).every((id) => ended.get(id) === 'failed')).toBe(true);
      },
    ),
    { numRuns: cases(300, 60) },
  );
});

import { expect, it } from 'vitest';
import { storeBirth } from '../../../src/custody/kernel/birth.ts';
import { createPaymentWorld, fee } from './payment-world.ts';

const AMOUNT = 5_000_000n;

/** A payment that names no order and has no order's amount, found by the search. */
async function paidByMistake(options: Parameters<typeof createPaymentWorld>[0] = {}) {
  const world = createPaymentWorld(options);
  const request = world.open();
  const paid = world.pay(AMOUNT);
  await world.payments.run();
  return { world, request, paid };
}

it('a payment that matches nothing is shown to a caller who names it, and listed for the operator', async () => {
  const { world, request, paid } = await paidByMistake();
  expect(await world.confirm(request.id, paid)).toMatchObject({
    refusal: {
      code: 'PAYMENT_NOT_BOUND',
      message: expect.stringContaining('received'),
      details: { receivedLamports: '5000000', payer: 'payer' },
    },
  });
  const { rows } = await world.payments.commands.unmatched('');
  expect(rows).toMatchObject([{ payment: paid, lamports: '5000000', payer: 'payer' }]);
});

it('the operator returns a payment that matches nothing once, and nothing else can use it', async () => {
  const { world, request, paid } = await paidByMistake();
  for (let calls = 0; calls < 3; calls++)
    expect(await world.payments.commands.refund(paid)).toMatchObject({ ok: true });
  expect(world.refunded).toEqual([`refund:${paid}:1`]);
  expect(world.journal.get(`refund:${paid}:1`)).toMatchObject({ plan: { payer: 'payer' }, amount: AMOUNT });
  expect(world.journal.usedBy(`payment:${paid}`)).toBe(`unmatched:${paid}`);
  expect(await world.confirm(request.id, paid)).toMatchObject({ refusal: { code: 'PAYMENT_ALREADY_USED' } });
  expect((await world.payments.commands.unmatched('')).rows).toEqual([]);
});

it('a payment that bought something is never unmatched', async () => {
  const world = createPaymentWorld();
  const request = world.open();
  const paid = world.pay(fee(request));
  await world.payments.run();
  expect((await world.payments.commands.unmatched('')).rows).toEqual([]);
  expect(await world.payments.commands.refund(paid)).toMatchObject({ ok: false });
  expect(world.refunded).toEqual([]);
});

it('a payment that another flow has used is not returned', async () => {
  const { world, paid } = await paidByMistake();
  world.journal.useOnce(`payment:${paid}`, 'swap:1', world.state.now);
  expect(await world.payments.commands.refund(paid)).toMatchObject({ ok: false });
  expect(world.refunded).toEqual([]);
});

it('a payment older than the journal is not returned: the lost journal may have used it', async () => {
  const { world, paid } = await paidByMistake();
  storeBirth(world.journal, { at: world.state.now, slot: '1', revision: 0 });
  expect(await world.payments.commands.refund(paid)).toMatchObject({ ok: false });
  expect((await world.payments.commands.unmatched('')).rows).toEqual([]);
  expect(world.refunded).toEqual([]);
});

it('1,200 dust payments are neither listed nor returned', async () => {
  const world = createPaymentWorld();
  const dust = Array.from({ length: 1_200 }, () => world.pay(10_000n));
  await world.payments.run();
  expect((await world.payments.commands.unmatched('')).rows).toEqual([]);
  expect(await world.payments.commands.refund(dust[0] ?? '')).toMatchObject({ ok: false });
});

it("a payment by an exchange's wallet is returned only by hand", async () => {
  const { world, paid } = await paidByMistake({ heldPayers: ['payer'] });
  expect(await world.payments.commands.refund(paid)).toMatchObject({
    ok: false,
    rows: [{ payment: paid, outcome: expect.stringContaining('exchange') }],
  });
  expect(world.refunded).toEqual([]);
});

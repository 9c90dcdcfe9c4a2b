import { expect, it } from 'vitest';
import { scenes } from '../../kit/scenes.ts';
import { play } from './payment-scenes.ts';
import { createPaymentWorld } from './payment-world.ts';

it.each(
  scenes(`
    a payment that matches nothing is shown to a caller who names it, and listed for the operator
      | open a; pay a 5000000 unnamed; run; confirm a a1 = PAYMENT_NOT_BOUND receivedLamports:5000000 payer:payer; unmatched = a1 5000000 payer
    the operator returns a payment that matches nothing once, and nothing else can use it
      | open a; pay a 5000000 unnamed; run; refund a1; refund a1; refund a1; refunded = a1:1; payers = payer; used a1 = unmatched:a1; confirm a a1 = PAYMENT_ALREADY_USED; unmatched = none
    a payment of 10,000 lamports that matches nothing is neither listed nor returned
      | open a; pay a 10000 unnamed; run; unmatched = none; refund a1 = false
    a payment by an exchange's wallet that matches nothing is returned only by hand
      | open a; pay a 5000000 unnamed by exchange; run; refund a1 = an exchange's wallet paid: ask the customer and send it by hand; refunded = none
    a payment by a vault, whose payer is not certain, is shown and listed too, and returned only by hand
      | open a; pay a 5000000 unnamed vault; run; confirm a a1 = PAYMENT_NOT_BOUND receivedLamports:5000000 payer:; unmatched = a1 5000000 null; refund a1 = several accounts paid: send it by hand; refunded = none; used a1 = unmatched:a1
    a payment that bought something is never unmatched
      | open a; pay a fee unnamed; run; unmatched = none; refund a1 = false; refunded = none
    a payment that another flow has used is not returned
      | open a; pay a 5000000 unnamed; run; consume a1 swap:1; refund a1; refunded = none
    a payment older than the journal is not returned, because the lost journal may have used it
      | open a; pay a 5000000 unnamed; run; birth; refund a1; unmatched = none; refunded = none
    a payment that a bridge may have returned is not listed or returned until the swap has settled
      | open a; swap 100 0; pay a fee-1 unnamed; run; confirm a a1 = PAYMENT_NOT_BOUND; unmatched = none; refund a1 = false; settle; refund a1 = paid
    a payment without a block time that a bridge may have returned is not listed
      | open a; swap 100 0; pay a fee-1 unnamed block none; run; unmatched = none
    a payment older than the swap, or of another amount, is listed although the swap is unsettled
      | open a; wait 1h; swap 100 0; pay a fee-1 unnamed block -121s; pay a fee+1 unnamed; pay a 5000000 unnamed; run; refund a1 = paid; refund a2 = paid; refund a3 = paid
    a payment that the reserve or the treasury made itself is not listed
      | open a; pay a 5000000 unnamed by reserve; pay a 6000000 unnamed by treasury; run; unmatched = none
    a transaction that cannot be recorded is listed without an amount until a confirm call records it
      | open a; pay a fee unnamed; set unreadable yes; runs 1; unmatched = a1 null null; unbooked = 1; set unreadable; confirm a a1 = confirmed; unmatched = none
  `),
)('%s', (_title, steps = '') => play(steps, createPaymentWorld({ heldPayers: ['exchange'] })));

it('250 small payments do not hide a larger one from the list, and all are counted', async () => {
  const world = createPaymentWorld();
  world.open();
  const paid = world.pay(5_000_000n);
  for (let n = 0; n < 250; n++) world.pay(10_001n);
  for (let run = 0; run < 10; run++) await world.payments.run();
  const { ok, message, rows } = await world.payments.commands.unmatched('');
  expect([ok, message.includes('could not be recorded')]).toEqual([true, false]);
  const since = new Date((world.chain.at(-1)?.blockTime ?? 0) * 1_000).toISOString();
  expect([rows?.length, rows?.[0]?.payment, rows?.[0]?.since]).toEqual([200, paid, since]);
  const [, debt] = world.payments.debts();
  const latest = { id: paid, reason: 'no_request' };
  expect(debt).toMatchObject({ count: 251, awaitOperator: 251, atoms: 5_000_000n + 250n * 10_001n });
  expect(debt?.oldestMs).toBe(Math.floor(world.chain.at(-1)?.blockTime ?? 0) * 1_000);
  expect([debt?.examples.length, debt?.examples[0]]).toEqual([5, latest]);
});

it('250 larger swap refunds do not hide a payment from the list', async () => {
  const world = createPaymentWorld();
  world.open();
  const paid = world.pay(5_000_000n);
  for (let n = 0; n < 250; n++) world.journal.useOnce(`payment:${world.pay(50_000_000n)}`, `swap:${n}`, 1);
  for (let run = 0; run < 10; run++) await world.payments.run();
  const { rows } = await world.payments.commands.unmatched('');
  expect(rows?.map(({ payment }) => payment)).toEqual([paid]);
});

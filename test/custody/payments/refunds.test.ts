import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPaymentWorld, fee, type PaymentWorld, signature } from './payment-world.ts';

/** A completed request with this overpayment. */
async function overpaid(world: PaymentWorld, excess: bigint, payer = 'payer') {
  const request = world.open();
  const paid = world.pay(fee(request) + excess, [request.reference], {
    accounts: [payer, 'treasury', request.reference],
    signers: [payer],
  });
  await world.payments.run();
  return { request, paid };
}

const outcomes = async (world: PaymentWorld, id: string) =>
  (await world.payments.commands.refund(id)).rows?.map(({ outcome }) => outcome);

describe('a refund', () => {
  it('a refund pays the recorded amount to the recorded payer in its own operation, and is shown', async () => {
    const world = createPaymentWorld();
    const { request, paid } = await overpaid(world, 50_000n);
    expect(await world.payments.commands.refund(request.id)).toMatchObject({
      ok: true,
      rows: [{ outcome: 'paid' }],
    });
    const id = `refund:${paid}:1`;
    expect(world.journal.get(id)).toMatchObject({
      kind: 'refund',
      amount: 50_000n,
      plan: { payer: 'payer', payment: paid },
    });
    expect(world.payments.find(request.id)?.refunds).toMatchObject([
      { status: 'paid', refundSignature: `signature-${id}` },
    ]);
  });

  it('a refund is paid once for any number of commands, which may name its request or its payment', async () => {
    const world = createPaymentWorld();
    world.state.refunds = 'never';
    const { request, paid } = await overpaid(world, 50_000n);
    await Promise.all([
      world.payments.commands.refund(request.id),
      world.payments.commands.refund(paid),
      world.payments.commands.refund(request.id),
    ]);
    expect(world.refunded).toEqual([`refund:${paid}:1`]);
    expect(await outcomes(world, paid)).toEqual(['on its way']);
    world.finish(`refund:${paid}:1`, 'done');
    await world.payments.run();
    expect(await outcomes(world, request.id)).toEqual(['paid']);
    expect(world.refunded).toHaveLength(1);
  });

  it('a refund is paid once if another command begins it while the chain is read', async () => {
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

  it('a refund whose operation moved nothing is due again, and a new operation pays it', async () => {
    const world = createPaymentWorld();
    world.state.refunds = 'failed';
    const { request, paid } = await overpaid(world, 50_000n);
    expect(await world.payments.commands.refund(request.id)).toMatchObject({ ok: false });
    expect(world.payments.find(request.id)?.refunds).toMatchObject([{ status: 'due' }]);
    world.state.refunds = 'done';
    await world.payments.commands.refund(request.id);
    expect(world.refunded).toEqual([`refund:${paid}:1`, `refund:${paid}:2`]);
    expect(world.payments.find(request.id)?.refunds).toMatchObject([{ status: 'paid' }]);
  });

  it('refunds stop at the daily limit, and continue the day after', async () => {
    const world = createPaymentWorld();
    const [first, second] = [await overpaid(world, 60_000_000n), await overpaid(world, 60_000_000n)];
    expect(await outcomes(world, first.request.id)).toEqual(['paid']);
    expect(await outcomes(world, second.request.id)).toEqual([
      'not paid: The limit of SOL refunded in a day, 0.1 SOL, would be exceeded: 0.06 SOL are already used.',
    ]);
    world.state.now += 25 * 3_600_000;
    expect(await outcomes(world, second.request.id)).toEqual(['paid']);
  });

  it('two refunds of one payment become one transaction, unless the first one has already been sent', async () => {
    for (const early of [false, true]) {
      const world = createPaymentWorld({ creates: 'never' });
      const { request, paid } = await overpaid(world, 50_000n);
      if (early) await world.payments.commands.refund(request.id);
      world.finish(`token:${request.id}`, 'failed');
      await world.payments.run();
      await world.payments.commands.refund(request.id);
      expect(world.refunded).toEqual(
        early ? [`refund:${paid}:1`, `refund:${paid}.2:1`] : [`refund:${paid}:1`],
      );
      const moved = world.refunded.reduce((sum, id) => sum + (world.journal.get(id)?.amount ?? 0n), 0n);
      expect(moved).toBe(fee(request) + 50_000n);
    }
  });

  it('a refund of a request paid by several payers returns each part to its payer', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    for (const payer of ['alice', 'bob']) {
      world.pay(3_000_000n, [request.reference], {
        accounts: [payer, 'treasury', request.reference],
        signers: [payer],
      });
    }
    await world.payments.run();
    world.state.now += 41 * 60_000;
    await world.payments.run();
    await world.payments.commands.refund(request.id);
    expect(world.refunded.map((id) => world.journal.get(id)?.plan.payer).sort()).toEqual(['alice', 'bob']);
  });
});

describe('nothing is paid back', () => {
  it.each([
    [
      'when several paid together',
      (world: PaymentWorld) => {
        const request = world.open();
        const lamports = fee(request) + 90_000n;
        world.pay(lamports, [request.reference], {
          accounts: ['a', 'b', 'treasury', request.reference],
          signers: ['a', 'b'],
          preLamports: [10n ** 12n, 10n ** 12n, 0n, 0n],
          postLamports: [10n ** 12n - lamports + 1_000_000n - 5_000n, 10n ** 12n - 1_000_000n, lamports, 0n],
        });
        return request;
      },
      'several accounts paid: send it by hand',
    ],
    [
      "to an exchange's wallet",
      (world: PaymentWorld) => {
        const request = world.open();
        world.pay(fee(request) + 90_000n, [request.reference], {
          accounts: ['exchange', 'treasury', request.reference],
          signers: ['exchange'],
        });
        return request;
      },
      "an exchange's wallet paid: ask the customer and send it by hand",
    ],
  ])('nothing is paid back %s', async (_name, make, outcome) => {
    const world = createPaymentWorld({ heldPayers: ['exchange'] });
    const request = make(world);
    await world.payments.run();
    world.state.now += 41 * 60_000;
    await world.payments.run();
    expect(await outcomes(world, request.id)).toEqual([outcome]);
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
  ])(
    'nothing is paid back if the row of a refund has %s than the chain shows',
    async (_name, forged, outcome) => {
      const world = createPaymentWorld();
      const { request, paid } = await overpaid(world, 50_000n);
      const [stored] = world.storage.exec('SELECT row FROM refunds WHERE signature = ?', paid);
      const row = JSON.stringify({ ...JSON.parse(String(stored?.row)), ...forged });
      world.storage.exec('UPDATE refunds SET row = ? WHERE signature = ?', row, paid);
      expect(await outcomes(world, request.id)).toEqual([outcome]);
      expect(world.refunded).toEqual([]);
    },
  );

  it('a refund is paid only after signing is allowed again and the chain can be read', async () => {
    const world = createPaymentWorld();
    const { request } = await overpaid(world, 50_000n);
    world.state.stopped = 'operator';
    expect(await outcomes(world, request.id)).toEqual(['not paid: signing is stopped (operator)']);
    world.state.stopped = undefined;
    world.state.unreadable = true;
    expect(await outcomes(world, request.id)).toEqual(['not paid: the chain cannot be read (unexpected)']);
    world.state.unreadable = false;
    expect(await outcomes(world, request.id)).toEqual(['paid']);
  });

  it('nothing is paid back for an unknown id', async () => {
    expect(await createPaymentWorld().payments.commands.refund('unknown')).toMatchObject({ ok: false });
  });
});

it('refunds never exceed their payment, and no refund is paid twice, in any order of events', async () => {
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
    { numRuns: 300 },
  );
});

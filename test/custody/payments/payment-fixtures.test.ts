/** Payments as a chain can show them, and the effect of each on a request. */
import { expect, it } from 'vitest';
import type { RequestView } from '../../../src/custody/api.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { scenes } from '../../kit/scenes.ts';
import { chainTransaction } from '../../world/solana-shapes.ts';
import { createPaymentWorld, fee, type PaymentWorld, TREASURY } from './payment-world.ts';

/** Balances of a transaction in which accounts gain and lose, the first of them paying the network's fee. */
function moving(changes: Record<string, bigint>): Partial<ChainTransaction> {
  const [payer = '', sum = 0n] = Object.entries(changes)[0] ?? [];
  const moved = chainTransaction('', { ...changes, [payer]: sum - 5_000n });
  const { accounts, signers, preLamports, postLamports } = moved;
  return { accounts, signers, preLamports, postLamports };
}

/** Payments that `pay` alone cannot write, by the first word of their scene. */
const ODD: Readonly<Record<string, (request: RequestView) => Partial<ChainTransaction>>> = {
  inner: ({ reference, ...request }) =>
    moving({ payer: -fee(request), program: 0n, [TREASURY]: fee(request), [reference]: 0n }),
  itself: ({ reference }) => moving({ [TREASURY]: 0n, [reference]: 0n }),
  back: ({ reference }) => moving({ payer: 0n, [TREASURY]: 0n, [reference]: 0n }),
  reserve: ({ reference }) => ({ accounts: ['reserve', TREASURY, reference], signers: ['reserve'] }),
  cosigned: () => ({ signers: ['payer', TREASURY] }),
};
const REFERENCES: Readonly<Record<string, (world: PaymentWorld, request: RequestView) => string[]>> = {
  own: (_world, { reference }) => [reference],
  none: () => [],
  rival: (world) => [world.open().reference],
  foreign: () => ['thirdParty'],
};

// The sum above the fee, the reference, what is odd; then the state of the request, its refunds, the response to a confirm
// call.
it.each(
  scenes(`
    that is exact                                       | 0     | own     |          | completed        |          | confirmed
    that is exact without a reference                   | 0     | none    |          | completed        |          | confirmed
    that exceeds the fee                                | 10001 | own     |          | completed        | overpaid | confirmed
    that exceeds the fee by too little for a refund     | 10000 | own     |          | completed        |          | confirmed
    by an inner transfer of a program                   | 0     | none    | inner    | completed        |          | confirmed
    from the treasury to itself                         | 0     | none    | itself   | awaiting_payment |          | PAYMENT_NOT_BOUND
    that enters and leaves at once                      | 0     | none    | back     | awaiting_payment |          | PAYMENT_NOT_BOUND
    whose sender is the reserve                         | 0     | own     | reserve  | awaiting_payment |          | PAYMENT_NOT_BOUND
    that the treasury and another account signed        | 0     | own     | cosigned | awaiting_payment |          | PAYMENT_NOT_BOUND
    with the reference of another request               | 0     | rival   |          | awaiting_payment |          | PAYMENT_ALREADY_USED
    with a reference of no request                      | 1     | foreign |          | awaiting_payment |          | PAYMENT_NOT_BOUND
  `),
)(
  'the walk over the treasury and every confirm call record the true purpose of a payment %s',
  async (...scene) => {
    const [, above = '', references = '', odd = '', detail, reason, code] = scene;
    for (const first of ['scan', 'confirm'] as const) {
      const world = createPaymentWorld();
      const request = world.open();
      const sum = fee(request) + BigInt(above);
      const paid = world.pay(sum, REFERENCES[references]?.(world, request), ODD[odd]?.(request));
      if (first === 'scan') {
        // Another request keeps the search running after this one has expired.
        world.open();
        await world.payments.run();
      }
      const answer = await world.confirm(request.id, paid);
      await world.payments.run();
      expect(answer.type === 'refused' ? answer.refusal.code : answer.type, first).toBe(code);
      const view = world.payments.find(request.id);
      expect(view?.detail, first).toBe(detail);
      expect(BigInt(view?.receivedLamports ?? 0)).toBe(detail === 'completed' ? sum : 0n);
      const refunds = reason === '' ? [] : [[reason, 'payer']];
      expect(view?.refunds.map(({ reason, payer }) => [reason, payer])).toEqual(refunds);
      // The payment of the real payer still completes it.
      if (detail === 'awaiting_payment') {
        const own = world.pay(fee(request), [request.reference]);
        expect((await world.confirm(request.id, own)).type).toBe('confirmed');
      }
    }
  },
);

it('a thousand dust payments with a reference neither hide the payment nor enlarge its record', async () => {
  const world = createPaymentWorld();
  const request = world.open();
  for (let n = 0; n < 1_000; n++) world.pay(1n, [request.reference]);
  const own = world.pay(fee(request), [request.reference]);
  expect((await world.confirm(request.id, own)).type).toBe('confirmed');
  for (const { signature: each } of world.chain) await world.confirm(request.id, each);
  const view = world.payments.find(request.id);
  expect(view).toMatchObject({ status: 'completed', paymentSignature: own });
  expect(JSON.stringify(view).length).toBeLessThan(10_000);
  expect(world.created).toHaveLength(1);
  expect(world.storage.exec('SELECT MAX(LENGTH(columns)) AS most FROM outbox')[0]?.most).toBeLessThan(30_000);
  expect(world.storage.exec('SELECT id FROM outbox WHERE entity = ?', 'refunds')).toEqual([]);
  await world.payments.commands.refund(request.id);
  expect(world.refunded).toEqual([]);
});

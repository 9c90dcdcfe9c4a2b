/** Payments as a chain can show them, and the effect of each on a request. */
import { describe, expect, it } from 'vitest';
import type { RequestView } from '../../../src/custody/api.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createPaymentWorld, fee, type PaymentWorld, TREASURY } from './payment-world.ts';

const RICH = 10n ** 12n;

/** Balances of a transaction in which accounts gain and lose, the first of them paying the network's fee. */
function moving(changes: Record<string, bigint>): Partial<ChainTransaction> {
  const accounts = Object.keys(changes);
  return {
    accounts,
    signers: accounts.slice(0, 1),
    preLamports: accounts.map(() => RICH),
    postLamports: accounts.map(
      (account, index) => RICH + (changes[account] ?? 0n) - (index === 0 ? 5_000n : 0n),
    ),
  };
}

type Fixture = {
  readonly make: (world: PaymentWorld, request: RequestView) => unknown;
  readonly detail: string;
  readonly received?: (request: RequestView) => bigint;
  readonly refunds?: readonly (readonly [reason: string, payer: string | null])[];
  /** The response to a confirm that names it. */
  readonly code: string;
};

const FIXTURES: Record<string, Fixture> = {
  exact: {
    make: (world, request) => world.pay(fee(request), [request.reference]),
    detail: 'completed',
    received: fee,
    code: 'confirmed',
  },
  'exact without a reference': {
    make: (world, request) => world.pay(fee(request)),
    detail: 'completed',
    received: fee,
    code: 'confirmed',
  },
  long: {
    make: (world, request) => world.pay(fee(request) + 10_001n, [request.reference]),
    detail: 'completed',
    received: (request) => fee(request) + 10_001n,
    refunds: [['overpaid', 'payer']],
    code: 'confirmed',
  },
  'long by less than a refund is worth': {
    make: (world, request) => world.pay(fee(request) + 10_000n, [request.reference]),
    detail: 'completed',
    received: (request) => fee(request) + 10_000n,
    code: 'confirmed',
  },
  'by an inner transfer of a program': {
    make: (world, request) =>
      world.pay(
        0n,
        [],
        moving({
          payer: -fee(request),
          program: 0n,
          [TREASURY]: fee(request),
          [request.reference]: 0n,
        }),
      ),
    detail: 'completed',
    received: fee,
    code: 'confirmed',
  },
  'from the treasury to itself': {
    make: (world, request) => world.pay(0n, [], moving({ [TREASURY]: 0n, [request.reference]: 0n })),
    detail: 'awaiting_payment',
    code: 'PAYMENT_NOT_BOUND',
  },
  'in and out again': {
    make: (world, request) =>
      world.pay(0n, [], moving({ payer: 0n, [TREASURY]: 0n, [request.reference]: 0n })),
    detail: 'awaiting_payment',
    code: 'PAYMENT_NOT_BOUND',
  },
  'that the reserve made itself': {
    make: (world, request) =>
      world.pay(fee(request), [request.reference], {
        accounts: ['reserve', TREASURY, request.reference],
        signers: ['reserve'],
      }),
    detail: 'awaiting_payment',
    code: 'PAYMENT_NOT_BOUND',
  },
  'that the treasury signed beside another': {
    make: (world, request) => world.pay(fee(request), [request.reference], { signers: ['payer', TREASURY] }),
    detail: 'awaiting_payment',
    code: 'PAYMENT_NOT_BOUND',
  },
  "with another request's reference": {
    make: (world, request) => world.pay(fee(request), [world.open().reference]),
    detail: 'awaiting_payment',
    code: 'PAYMENT_ALREADY_USED',
  },
  'with a reference of no request': {
    make: (world, request) => world.pay(fee(request) + 1n, ['thirdParty']),
    detail: 'awaiting_payment',
    code: 'PAYMENT_NOT_BOUND',
  },
};

describe.each(Object.entries(FIXTURES))(
  'a payment %s',
  (_name, { make, detail, received, refunds, code }) => {
    it('the walk over the treasury and every confirm record each payment with its true purpose', async () => {
      for (const first of ['scan', 'confirm'] as const) {
        const world = createPaymentWorld();
        const request = world.open();
        make(world, request);
        const paid = world.chain[0]?.signature ?? '';
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
        expect(BigInt(view?.receivedLamports ?? 0)).toBe(received?.(request) ?? 0n);
        expect(view?.refunds.map(({ reason, payer }) => [reason, payer])).toEqual(refunds ?? []);
        // The payment of the real payer still completes it.
        if (detail === 'awaiting_payment') {
          const own = world.pay(fee(request), [request.reference]);
          expect((await world.confirm(request.id, own)).type).toBe('confirmed');
        }
      }
    });
  },
);

it('a thousand dust payments on a reference do not hide the payment, and its record does not grow', async () => {
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

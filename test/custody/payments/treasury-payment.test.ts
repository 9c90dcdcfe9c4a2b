import { expect, it } from 'vitest';
import { awaitedReturns, mayBeReturned } from '../../../src/custody/payments/treasury-payment.ts';

const NOW = 1_790_000_000_000;
const SENT = { unsettled: 1_000n, createdAt: NOW };

const returned = (
  lamports: bigint,
  sent: { unsettled: bigint; createdAt: number },
  at: number | null = NOW,
) =>
  mayBeReturned(
    { lamports, blockTime: at === null ? null : at / 1_000, payee: 'treasury' },
    awaitedReturns([{ signer: 'treasury', ...sent }]),
  );

it('a payment may be a bridge refund if it is between nine tenths and all of what an operation sent', () => {
  expect([899n, 900n, 1_000n, 1_001n].map((lamports) => returned(lamports, SENT))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

it('a payment may be a bridge refund if it is at most two minutes older than the operation, or has no block time', () => {
  const times = [NOW - 120_000, NOW - 121_000, null].map((at) => returned(1_000n, SENT, at));
  expect(times).toEqual([true, false, true]);
  expect(returned(1_000n, { ...SENT, createdAt: NOW + 1 }, NOW - 120_000)).toBe(false);
});

it('a payment is never treated as a bridge refund of an operation with nothing outstanding', () => {
  expect(returned(0n, { ...SENT, unsettled: 0n })).toBe(false);
  expect(returned(1n, { ...SENT, unsettled: 1n })).toBe(true);
});

import { describe, expect, it } from 'vitest';
import { mayBeReturned } from '../../../src/custody/payments/payment-matching.ts';

const NOW = 1_790_000_000_000;
const SENT = { unsettled: 1_000n, createdAt: NOW };

describe('a payment may be a sum that a bridge returned', () => {
  const returned = (lamports: bigint, sent: { unsettled: bigint; createdAt: number }, now = NOW) =>
    mayBeReturned({ lamports, blockTime: null }, [sent], now);

  it('a payment may be a returned sum from nine tenths of what an operation sent up to the whole', () => {
    expect([899n, 900n, 1_000n, 1_001n].map((lamports) => returned(lamports, SENT))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('a payment may be a returned sum when it is at most two minutes older than the operation', () => {
    const ages = [120_000, 120_001].map((age) => returned(1_000n, SENT, NOW - age));
    expect(ages).toEqual([true, false]);
  });

  it('a payment is never a returned sum of an operation with nothing outstanding', () => {
    expect(returned(0n, { ...SENT, unsettled: 0n })).toBe(false);
    expect(returned(1n, { ...SENT, unsettled: 1n })).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { ownFee } from '../../../src/custody/payments/open-request.ts';
import { refundDue, usedElsewhere } from '../../../src/custody/payments/payment-requests.ts';

const drawn = (...pairs: readonly (readonly [number, number])[]) => {
  const left = [...pairs];
  return () => Uint8Array.from(left.shift() ?? [0, 0]);
};
const free = () => false;

describe('a unique fee', () => {
  it.each([
    [20_000n, [0, 0], 20_001n],
    [20_001n, [0, 0], 30_001n],
    [29_999n, [0, 5], 30_006n],
    [20_000n, [1, 2], 20_259n],
    // 9,998 is the last remainder; 9,999 is the first that starts at zero again.
    [20_000n, [39, 14], 29_999n],
    [20_000n, [39, 15], 20_001n],
  ] as const)('of %d lamports is the next ten thousands plus the drawn digits (%j)', (base, bytes, fee) => {
    expect(ownFee(base, { randomBytes: drawn(bytes), isTaken: free })).toBe(fee);
  });

  it('is never one that another open request has', () => {
    const randomBytes = drawn([0, 0], [0, 0], [0, 7]);
    expect(ownFee(10_000n, { randomBytes, isTaken: (lamports) => lamports === '10001' })).toBe(10_008n);
  });

  it('is undefined when fifty draws meet only taken ones', () => {
    let asked = 0;
    const isTaken = () => {
      asked += 1;
      return true;
    };
    expect(ownFee(10_000n, { randomBytes: drawn(), isTaken })).toBeUndefined();
    expect(asked).toBe(50);
  });
});

describe('a payment that serves something else', () => {
  it.each([
    ['token:1', 'PAYMENT_ALREADY_USED', { purpose: 'token' }],
    ['listing:1', 'PAYMENT_ALREADY_USED', { purpose: 'listing' }],
    ['asry:1', 'PAYMENT_ALREADY_USED', { purpose: 'asry' }],
    ['swap:1', 'PAYMENT_NOT_BOUND', undefined],
    [undefined, 'PAYMENT_NOT_BOUND', undefined],
  ])('names what people pay for, and nothing else (%s)', (consumerOf, code, details) => {
    const refusal = usedElsewhere(consumerOf);
    expect([refusal.code, refusal.details]).toEqual([code, details]);
  });

  it('or came too late is owed back', () => {
    expect(refundDue().code).toBe('REFUND_DUE');
  });
});

import { describe, expect, it } from 'vitest';
import { usedElsewhere } from '../../../src/custody/payments/confirm-refusals.ts';
import { createPaymentWorld } from './payment-world.ts';

describe('a payment that serves something else', () => {
  it.each([
    ['token:1', 'PAYMENT_ALREADY_USED', { purpose: 'token' }],
    ['listing:1', 'PAYMENT_ALREADY_USED', { purpose: 'listing' }],
    ['asry:1', 'PAYMENT_ALREADY_USED', { purpose: 'asry' }],
    ['swap:1', 'PAYMENT_NOT_BOUND', undefined],
    [undefined, 'PAYMENT_NOT_BOUND', undefined],
  ])(
    'the refusal of a used payment gives its purpose only for a token, a listing or a claim (%s)',
    (usedBy, code, details) => {
      const refusal = usedElsewhere(createPaymentWorld().context, usedBy);
      expect([refusal.code, refusal.details]).toEqual([code, details]);
    },
  );
});

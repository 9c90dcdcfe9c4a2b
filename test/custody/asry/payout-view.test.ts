import { describe, expect, it } from 'vitest';
import { payoutView } from '../../../src/custody/api.ts';

const payout = { part: 1, atoms: 5n, reason: null, createdAt: 1, paidAt: null };
const begun = { ...payout, state: 'begun' as const };
const operation = (reason: string | null, signature: string | null = null) => ({
  signature,
  reason,
  finishedAt: null,
});

describe('a begun payout that is not signed', () => {
  it.each([
    ['limit_payouts_day', 'daily_limit'],
    ['stopped_operator', 'paused'],
    ['held_reconciled', 'paused'],
  ])(
    'a begun payout that is not signed is owed with the reason when its operation waits for %s',
    (reason, shown) => {
      expect(payoutView(begun, operation(reason))).toMatchObject({ status: 'owed', reason: shown });
    },
  );

  it.each([null, 'upstream_timeout', 'expired'])(
    'a begun payout that is not signed is pending when it waits for moments only: %s',
    (reason) => {
      expect(payoutView(begun, operation(reason))).toMatchObject({ status: 'pending', reason: null });
    },
  );

  it('a begun payout that is not signed is pending before D1 has its operation', () => {
    expect(payoutView(begun, undefined)).toMatchObject({ status: 'pending', reason: null });
  });
});

describe('a payout', () => {
  it('a payout is sent once its operation is signed, in any later state of it', () => {
    expect(payoutView(begun, operation('held_unproven', 'signature'))).toMatchObject({
      status: 'sent',
      signature: 'signature',
      reason: null,
    });
  });

  it('a payout that was paid stays sent without its operation', () => {
    expect(payoutView({ ...payout, state: 'paid', paidAt: 7 }, undefined)).toMatchObject({
      status: 'sent',
      signature: null,
      paidAtMs: 7,
    });
  });

  it.each([
    ['unread', 'pending', null],
    ['daily_limit', 'owed', 'daily_limit'],
  ])(
    'a payout that is owed is shown by its own reason, not by that of its last operation: %s',
    (reason, status, shown) => {
      const owed = { ...payout, state: 'owed' as const, reason };
      expect(payoutView(owed, operation('rejected', 'signature'))).toMatchObject({
        status,
        reason: shown,
        signature: null,
      });
    },
  );
});

import { describe, expect, it } from 'vitest';
import { payoutView } from '../../src/custody/payout-view.ts';

const payout = { part: 1, atoms: 5n, reason: null, createdAt: 1, paidAt: null };
const begun = { ...payout, state: 'begun' as const };
const operation = (reason: string | null, signature: string | null = null) => ({
  signature,
  reason,
  finishedAt: null,
});

describe('a started payout that is not signed', () => {
  it.each([
    ['limit_payouts_day', 'daily_limit'],
    ['stopped_operator', 'paused'],
    ['held_unproven', 'paused'],
  ])(
    'an unsigned payout is shown as owed, with the reason, when its operation waits for %s',
    (reason, shown) => {
      expect(payoutView(begun, operation(reason))).toMatchObject({ status: 'owed', reason: shown });
    },
  );

  it.each([null, 'upstream_timeout', 'expired'])(
    'an unsigned payout is shown as pending when its operation will be retried: %s',
    (reason) => {
      expect(payoutView(begun, operation(reason))).toMatchObject({ status: 'pending', reason: null });
    },
  );

  it('an unsigned payout is shown as pending before D1 has its operation', () => {
    expect(payoutView(begun, undefined)).toMatchObject({ status: 'pending', reason: null });
  });
});

describe('a payout', () => {
  it('a payout is shown as sent once its operation is signed, in every later state of the operation', () => {
    expect(payoutView(begun, operation('held_unproven', 'signature'))).toMatchObject({
      status: 'sent',
      signature: 'signature',
      reason: null,
    });
  });

  it('a paid payout is shown as sent even if its operation is missing', () => {
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
    'an owed payout is shown with its own reason, not with the reason of its last operation: %s',
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

import { expect } from 'vitest';
import { payoutView } from '../../src/custody/payout-view.ts';
import { eachScene } from '../kit/scenes.ts';

/**
 * A payout as `state`, and its own reason or the time at which it was paid; its operation, if it has one, as `unsigned`,
 * `signed` or `final at 9`, and the operation's reason; and the payout as a caller sees it.
 */
eachScene(`
  an unsigned payout is shown as owed, with the reason, when its operation waits for a daily limit      | begun            | unsigned limit_payouts_day | owed daily_limit
  an unsigned payout is shown as owed, with the reason, when signing is paused                          | begun            | unsigned stopped_operator  | owed paused
  an unsigned payout is shown as owed, with the reason, when its operation is held                      | begun            | unsigned held_unproven     | owed paused
  an unsigned payout is shown as pending when its operation has not been tried yet                      | begun            | unsigned                   | pending
  an unsigned payout is shown as pending when its operation will be retried after a failed read         | begun            | unsigned upstream_timeout  | pending
  an unsigned payout is shown as pending when its operation will be retried after an expiry             | begun            | unsigned expired           | pending
  an unsigned payout is shown as pending before D1 has its operation                                    | begun            |                            | pending
  a payout is shown as sent once its operation is signed, in every later state of the operation         | begun            | signed held_unproven       | sent with signature
  a payout is shown as paid at the time when its operation was final before its own row has a time      | begun            | final at 9                 | sent with signature at 9
  a paid payout is shown as sent even if its operation is missing                                       | paid at 7        |                            | sent at 7
  a paid payout is shown with its own time, not with the time of its operation                          | paid at 7        | final at 9                 | sent with signature at 7
  an owed payout whose last read failed is shown as pending, although its last operation was rejected   | owed unread      | signed rejected            | pending
  an owed payout is shown with its own reason, not with the reason of its last operation                | owed daily_limit | signed rejected            | owed daily_limit
`)('%s', (_title, payout = '', shown = '', expected = '') => {
  const timeOf = (text: string) => Number(/ at (\d)/.exec(text)?.[1] ?? Number.NaN) || null;
  const [state = '', own] = payout.split(' ');
  const [phase = '', reason] = shown.split(' ');
  const operation = {
    signature: phase === 'unsigned' ? null : 'signature',
    reason: phase === 'final' ? null : (reason ?? null),
    finishedAt: timeOf(shown),
  };
  const row = { part: 1, atoms: 5n, createdAt: 1, reason: own === 'at' ? null : (own ?? null) };
  const view = payoutView(
    { ...row, state: state as 'owed' | 'begun' | 'paid', paidAt: timeOf(payout) },
    shown === '' ? undefined : operation,
  );
  const [status, why] = expected.split(' ');
  expect(view).toEqual({
    ...{ part: 1, atoms: 5n, createdAtMs: 1, status },
    reason: status === 'owed' ? why : null,
    signature: expected.includes('with signature') ? 'signature' : null,
    paidAtMs: timeOf(expected),
  });
});

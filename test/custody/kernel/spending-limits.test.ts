import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/durations.ts';
import type { Kind, Operation } from '../../../src/custody/kernel/operation.ts';
import {
  areLimits,
  checkLimit,
  type Limit,
  limitUse,
  type SpendingVerdict,
} from '../../../src/custody/kernel/spending-limits.ts';
import { LIMITS } from '../../kit/limits.ts';
import {
  closed,
  done,
  FEE,
  NOW,
  outstanding,
  planned,
  SOL,
  settling,
  signed,
} from '../../kit/sample-operations.ts';
import { eachScene, msOf } from '../../kit/scenes.ts';
import { checkCost, checkIntent, limitOf } from '../spending.ts';

const UNITS: Readonly<Record<string, bigint>> = { '': 1n, sol: SOL, fee: FEE, floor: LIMITS.floor };
/** Lamports of a sum such as `3sol+3fee+floor-1`. */
const sumOf = (text: string): bigint =>
  [...text.matchAll(/([+-]?)(\d*)([a-z]*)/g)].reduce((sum, [term, sign, count, unit = '']) => {
    const value = term === '' ? 0n : BigInt(count || 1) * (UNITS[unit] ?? 0n);
    return sign === '-' ? sum - value : sum + value;
  }, 0n);

const STATES = { planned, signed, settling, done, outstanding, closed };
const EARLIER = /^(\w+)(?: (-?[\dhmsd]+) ago)?(?: of (\S+))?(?: costs (\S+))?(?: as (\w+))?$/;
/** Operations as a scene writes them: `state [time ago] [of amount] [costs amount] [as kind]`. They cost 0 by default. */
const operationsOf = (text: string): Operation[] =>
  text === ''
    ? []
    : text.split(', ').map((each) => {
        const [, state = '', age = '0s', amount, cost = '0', kind = 'swap'] = EARLIER.exec(each) ?? [];
        return STATES[state as keyof typeof STATES]({
          kind: kind as Kind,
          createdAt: NOW - msOf(age),
          cost: lamports(sumOf(cost)),
          ...(amount === undefined ? {} : { amount: lamports(sumOf(amount)) }),
        });
      });

const shown = (verdict: SpendingVerdict | undefined): unknown[] => {
  if (!verdict || verdict.ok) return ['passes'];
  if (verdict.code === 'INSUFFICIENT_BALANCE') return ['balance', verdict.available];
  return [verdict.limit.name, verdict.used, verdict.availableAt];
};

/**
 * An operation is checked after these. It has an amount, and a kind, balance or limit that differs from the samples;
 * `cost` is checked before a signature. The result is the spendable balance, or a limit, its use and when it has room.
 */
eachScene(`
  the balance covers amount, fee and floor              |                                       | 1sol balance=1sol+fee+floor      | passes
  the balance is a lamport short                        |                                       | 1sol balance=1sol+fee+floor-1    | balance 1sol+fee-1
  reserved amounts leave exactly enough                 | planned, signed                       | 1sol balance=3sol+3fee+floor     | passes
  reserved amounts leave a lamport too few              | planned, signed                       | 1sol balance=3sol+3fee+floor-1   | balance 1sol+fee-1
  what has landed is not reserved                       | settling, done                        | 1sol balance=1sol+fee+floor      | passes
  the spendable balance is below zero                   | planned                               | 1sol balance=0                   | balance -1sol-fee-floor
  the fee alone is above the balance                    |                                       | 0 kind=token balance=floor       | balance 0
  as much as one operation may have                     | done 1ms ago of 1sol                  | 2sol                             | passes
  a lamport more than one operation may have            | done 1ms ago of 1sol                  | 2sol+1                           | operation 0 in 0s
  a limit of zero                                       |                                       | 1 operation=0                    | operation 0 in 0s
  an hour is used up                                    | done 59m59s ago of 2sol, done 58m59s ago of 2sol | 1                     | hour 4sol in 1s1ms
  the older of two amounts frees an hour                | done 10m ago of 2sol, done 50m ago of 2sol | 2sol                        | hour 4sol in 10m1ms
  the oldest amount frees as much as is asked           | done 50m ago of 1sol, done 40m ago of 1sol, done 30m ago of 2sol | 1sol  | hour 4sol in 10m1ms
  the oldest amount frees a lamport too few             | done 50m ago of 1sol, done 40m ago of 1sol, done 30m ago of 2sol | 1sol+1 | hour 4sol in 20m1ms
  two amounts free as much as is asked                  | done 50m ago of 1sol, done 40m ago of 1sol, done 30m ago of 2sol | 2sol  | hour 4sol in 20m1ms
  an amount leaves the hour                             | done 1h ago of 2sol, done 1ms ago of 2sol | 2sol                         | passes
  an amount leaves the hour in a millisecond            | done 59m59s999ms ago of 2sol, done 1ms ago of 2sol | 1                   | hour 4sol in 2ms
  a swap that the bridge failed was spent               | outstanding of 2sol, done of 2sol     | 1                                | hour 4sol in 1h1ms
  a swap that was refused was not spent                 | closed, done of 2sol                  | 2sol                             | passes
  the clock was set back by a day                       | done -1d ago of 2sol, done -1d ago of 2sol | 1                           | hour 4sol in 1d1h1ms
  more than the hour's whole limit                      |                                       | 2sol hour=1sol                   | hour 0 in 1h
  a day is used up                                      | done 23h59m59s ago of 10sol           | 1                                | day 10sol in 1s1ms
  a day has room                                        | done 23h59m59s ago of 9sol            | 1sol                             | passes
  a payout is not counted                               | done 1ms ago of 50sol as asry         | 1sol                             | passes
  the limits of swaps do not bind a creation            | done 1ms ago of 2sol, done 2ms ago of 2sol | 100sol kind=token           | passes
  one SOL is unsettled, of two                          | settling 2d ago                       | 1sol unsettled=2sol              | passes
  a planned swap is treated as unsettled                | planned 2d ago                        | 1sol+1 unsettled=2sol            | unsettled 1sol in 1m
  a signed swap is unsettled                            | signed 2d ago                         | 1sol+1 unsettled=2sol            | unsettled 1sol in 1m
  a settling swap is unsettled                          | settling 2d ago                       | 1sol+1 unsettled=2sol            | unsettled 1sol in 1m
  a swap that the bridge failed is unsettled            | outstanding 2d ago                    | 1sol+1 unsettled=2sol            | unsettled 1sol in 1m
  ended swaps and planned payouts are not unsettled     | done 2d ago, closed, planned as asry  | 1sol unsettled=1sol              | passes
  a swap may begin while the daily cost is just used up | done 1ms ago of 1 costs floor      | 1sol                             | passes
  no swap may begin above the daily cost                | done 1ms ago of 1 costs floor+1       | 1sol                             | cost_day floor+1 in 1d
  a signature whose cost exceeds the rest of the daily cost | done 1ms ago of 1 costs floor         | cost=1                           | cost_day floor in 1d
  a signature that costs nothing                        | done 1ms ago of 1 costs floor         | cost=0                           | passes
  the oldest cost frees as much as a signature needs    | done 23h59m ago costs 50000000, done 23h58m ago costs 50000000 | cost=50000000 | cost_day floor in 1m1ms
`)(
  'an operation is checked against the balance and the limits of swaps: %s',
  (_what, earlier, asked, result) => {
    const [first = '', ...words] = asked.split(' ');
    const {
      cost,
      kind = 'swap',
      balance = '1000sol',
      ...limits
    } = Object.fromEntries(
      [...words, first].filter((word) => word.includes('=')).map((word) => word.split('=')),
    ) as Record<string, string>;
    const amount = sumOf(first);
    const check = (operations: Operation[]) =>
      cost === undefined
        ? checkIntent({
            kind: kind as Kind,
            amount: lamports(amount),
            reserved: lamports(amount + FEE),
            balance: { lamports: lamports(sumOf(balance)), slot: 5_000n },
            operations,
            limits: {
              ...LIMITS,
              ...Object.fromEntries(Object.entries(limits).map(([name, sum]) => [name, sumOf(sum)])),
            },
            now: NOW,
          })
        : checkCost(operations, sumOf(cost), LIMITS, NOW);
    const [name, sum, , wait] = result.split(' ');
    const expected = [name, ...(sum ? [sumOf(sum)] : []), ...(wait ? [NOW + msOf(wait)] : [])];
    const operations = operationsOf(earlier);
    expect(shown(check(operations))).toEqual(expected);
    expect(shown(check(operations.toReversed()))).toEqual(expected);
  },
);

it('a refused amount passes at the time that its refusal shows, and not two milliseconds earlier', () => {
  const limit = limitOf(LIMITS, 'hour');
  const earlier = fc.record({
    createdAt: fc.integer({ min: NOW - HOUR_MS, max: NOW + 60_000 }),
    amount: fc.bigInt({ min: 0n, max: 2n * SOL }).map(lamports),
  });
  fc.assert(
    fc.property(fc.array(earlier), fc.bigInt({ min: 1n, max: LIMITS.hour }), (before, amount) => {
      const check = (now: number) => checkLimit(limit, before.map(done), { amount, cost: 0n }, now);
      const at = check(NOW)?.availableAt;
      if (at !== undefined) expect([check(at), check(at - 2)?.availableAt]).toEqual([undefined, at]);
    }),
  );
});

eachScene(`
  a queued operation of any age, if the limit includes queued ones                               | queued | planned 2d ago | 1
  no queued operation from before the window, if the limit counts it from when it was planned    |        | planned 2d ago | 0
  no signed operation from before the window                                                     | queued | signed 2d ago  | 0
  no operation that failed after it was signed                                                   |        | closed 2d ago signed | 0
  an operation that was signed in the window and is done                                         |        | done 2d ago signed   | 1
`)('a window includes %s', (_name, queued, operation, used) => {
  const limit: Limit = {
    ...{ name: 'swaps_day', kind: 'swap', unit: 'count', counts: 'operations', label: 'swaps in a day' },
    ...{ windowMs: DAY_MS, maximum: 1n, ...(queued && { countsQueued: true }) },
  };
  const signedAt = operation.endsWith(' signed') ? { signedAt: NOW } : {};
  const [op] = operationsOf(operation.replace(/ signed$/, ''));
  if (!op) throw new Error(operation);
  expect(limitUse(limit, [{ ...op, ...signedAt }], NOW).used).toBe(BigInt(used));
});

describe('the use of a limit', () => {
  const hour = limitOf(LIMITS, 'hour');

  it('availableAt of a limit is null while the limit has room', () => {
    const used = LIMITS.hour - 1n;
    expect(limitUse(hour, operationsOf('done 1ms ago of 4sol-1'), NOW)).toEqual({
      name: 'hour',
      label: 'SOL swapped in an hour',
      unit: 'lamports',
      windowMs: HOUR_MS,
      used,
      maximum: LIMITS.hour,
      availableAt: null,
    });
  });

  it('shows when the first lamport of a full limit is free again', () => {
    const rows = operationsOf('done 10m ago of 4sol-1, done 50m ago of 1');
    const availableAt = NOW + msOf('10m1ms');
    expect(limitUse(hour, rows, NOW)).toMatchObject({ used: LIMITS.hour, availableAt });
  });
});

it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, '1'])('a limit of %s is invalid', (unread) => {
  expect(areLimits(LIMITS)).toBe(true);
  expect(areLimits(Object.assign({ ...LIMITS }, { day: unread }))).toBe(false);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitsOf, readConfig } from '../../src/config.ts';
import { lamports } from '../../src/core/amount.ts';
import {
  COUNTED,
  type LimitName,
  OPERATION_LIMITS,
  type OperationLimit,
} from '../../src/core/operation-limits.ts';
import { parseReason } from '../../src/custody/kernel/reason.ts';
import { checkIntent } from '../../src/custody/kernel/spending-limits.ts';
import { CustodyBounds } from '../../src/custody/limits.ts';
import { createKernel, ready } from '../kit/kernel.ts';
import { LIMITS as TEST_LIMITS } from '../kit/limits.ts';
import { done, NOW, planned, SOL } from '../kit/sample-operations.ts';
import { eachRow, eachScene } from '../kit/scenes.ts';

const LIMITS = { ...TEST_LIMITS, floor: lamports(100n), operatingFloat: lamports(200n), creations_day: 2n };

const bounds = new CustodyBounds(LIMITS);
const holding = (atoms: bigint) => ({ lamports: lamports(atoms), slot: 5_000n });

it.each(Object.entries(OPERATION_LIMITS))(
  'the words of the limit %s name its window',
  (name, { label, windowMs }) => {
    const inWords = / in (an hour|a day)\b/.exec(label)?.[1];
    const windows: Readonly<Record<string, number>> = { 'an hour': 3_600_000, 'a day': 86_400_000 };
    expect(windowMs || undefined).toBe(windows[inWords ?? '']);
    expect(name.endsWith('day')).toBe(inWords === 'a day');
  },
);

eachRow<[kind: string, least: bigint]>(`
  swap   | 310n
  token  | 110n
  refund | 110n
  asry   | 110n
  absr   | 10n
`)(
  'an operation of the kind %s may spend only the balance above the amount that it must leave',
  (kind, least) => {
    const ask = (balance: bigint) => {
      const sums = { amount: lamports(10n), reserved: lamports(10n), balance: holding(balance) };
      return checkIntent({ ...sums, bounds: bounds.of(kind), operations: [], now: NOW });
    };
    expect(ask(least).ok).toBe(true);
    expect(ask(least - 1n)).toMatchObject({ code: 'INSUFFICIENT_BALANCE', available: 9n });
  },
);

/** A sale that costs 10 lamports: the balance, the unpaid requests, the creations of a minute ago, and the refusal. */
eachScene(`
  a sale leaves the balance that the unpaid requests cost                                  | 140 | 1 that cost 30      |             | opened
  a sale must leave the balance that the unpaid requests cost                              | 139 | 1 that cost 30      |             | operating_float
  a sale leaves half of the float for unpaid requests, however many there are              | 210 | 9 that cost 1000000 |             | opened
  a sale must leave half of the float for unpaid requests, however many there are          | 209 | 1 that cost 1000000 |             | operating_float
  a sale is allowed after one creation of two in a day, because a failed one costs none    | 999 | 0 that cost 0       | done failed | opened
  a sale is refused after the last creation of the day, until that creation is a day old   | 999 | 0 that cost 0       | done done   | 2 of 2, 86341 s
  a sale is allowed while unpaid requests use up to half of the limit                      | 999 | 9 that cost 0       |             | opened
  a sale is refused until a request expires while requests and a creation use up the limit | 999 | 9 that cost 0       | done        | 2 of 2, 600 s
`)('%s', (_title, balance = '', open = '', made = '', expected = '') => {
  const [count = '', , , cost = ''] = open.split(' ');
  const states = made.split(' ').filter((state) => state !== '') as ('done' | 'failed')[];
  const refusal = bounds.saleRefusal(
    { kind: 'token', cost: lamports(10n), open: { count: BigInt(count), lamports: BigInt(cost) } },
    holding(BigInt(balance)),
    states.map((state) => done({ kind: 'token', state, createdAt: NOW - 60_000, releasedSlot: null })),
    NOW,
  );
  const [, used, maximum, wait] = /^(\d+) of (\d+), (\d+) s$/.exec(expected) ?? [];
  if (!wait) return expect(refusal?.details?.limit ?? 'opened').toBe(expected);
  const nextAvailableAt = new Date(NOW + Number(wait) * 1_000).toISOString();
  expect(refusal).toEqual({
    code: 'SPENDING_LIMIT_REACHED',
    message: `The limit on token creations in a day, ${maximum}, would be exceeded: ${used} are already used.`,
    retryAfterSeconds: Number(wait),
    details: { limit: 'creations_day', used, maximum, nextAvailableAt },
  });
});

it('a limit on a figure that its kind of operation never changes does not compile', () => {
  const { creations_day } = OPERATION_LIMITS;
  // @ts-expect-error a creation moves no lamports
  const never: OperationLimit = { ...creations_day, counts: 'amount' };
  // @ts-expect-error no operation is of this kind
  const nothing: OperationLimit = { ...creations_day, kind: 'tokens' };
  for (const { kind, counts } of [never, nothing])
    expect((COUNTED as Record<string, readonly string[]>)[kind] ?? []).not.toContain(counts);
});

const DECLARED = Object.entries(OPERATION_LIMITS) as [LimitName, OperationLimit][];

describe.each(DECLARED)('the limit %s', (name, { kind, counts, windowMs, unit, setting }) => {
  const unlimited = { ...TEST_LIMITS, ...Object.fromEntries(DECLARED.map(([other]) => [other, 10n ** 15n])) };

  it('operations signed within the window of the limit never exceed the limit', async () => {
    const call = fc.record({ value: fc.bigInt({ min: 1n, max: 9n }), waits: fc.boolean() });
    const reached = { times: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 0n, max: 20n }),
        fc.array(call, { maxLength: 12 }),
        async (maximum, calls) => {
          const costs = new Map<string, bigint>();
          const prepare = async ({ id }: { id: string }) => ready({ once: [], cost: costs.get(id) ?? 0n });
          const w = createKernel({ prepare }, { ...unlimited, [name]: maximum });
          const signed: { at: number; value: bigint }[] = [];
          for (const [number, call] of calls.entries()) {
            const value = counts === 'operations' ? 1n : call.value;
            if (call.waits) w.clock.now += Math.max((windowMs ?? 0) - 1_000, 1_000);
            const used = signed
              .filter(({ at }) => windowMs === null || at > w.clock.now - windowMs)
              .reduce((sum, each) => sum + each.value, 0n);
            const fits = used + value <= maximum;
            const id = `${kind}:${number}`;
            costs.set(id, counts === 'cost' ? value : 0n);
            const amount = lamports(counts === 'cost' || counts === 'operations' ? 0n : value);
            // A queued creation is checked only at its signature.
            const begun =
              kind === 'token'
                ? w.add(planned({ id, kind, amount, reserved: amount }))
                : await w.begin(id, { amount });
            await w.executor.drive(id);
            const state = w.journal.get(id)?.state;
            expect(state === 'signed').toBe(fits);
            if (fits) signed.push({ at: w.clock.now, value });
            else {
              reached.times++;
              if ('why' in begun) expect(begun.why).toMatchObject({ code: 'LIMIT_REACHED', limit: { name } });
              else expect(w.row(id).reason).toEqual(parseReason(`limit_${name}`));
            }
          }
        },
      ),
    );
    expect(reached.times).toBeGreaterThan(10);
  });

  it('each limit is read from its setting', () => {
    const settings = setting ? { [setting]: '3' } : { DAILY_LIMITS: `${name}=3` };
    expect(limitsOf(readConfig(settings))[name]).toBe(unit === 'lamports' ? 3n * SOL : 3n);
  });
});

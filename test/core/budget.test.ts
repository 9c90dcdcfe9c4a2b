import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget, type BudgetTerms } from '../../src/core/budget.ts';

const OWN = '203.0.113.7';
const OTHER = '198.51.100.9';
const START = 1_800_000_000_000;

/** The units that a client gets when it takes until it is refused. */
function takeAll(budget: Budget, client: string | null, now = START): number {
  let taken = 0;
  while (budget.take(client, now).ok) taken += 1;
  return taken;
}

describe('the share of a network', () => {
  it.each([
    [80, OWN, 10],
    [12, OWN, 2],
    [1, OWN, 1],
    [0, OWN, 0],
    [80, null, 80],
  ])('of %i units, the client %s gets %s', (total, client, taken) => {
    expect(takeAll(new Budget({ total }), client)).toBe(taken);
  });

  it('a client gets an eighth of what others have left', () => {
    const budget = new Budget({ total: 80 });
    expect(takeAll(budget, null)).toBe(80);
    const half = new Budget(
      { total: 80 },
      Array.from({ length: 40 }, () => ({ client: null, at: START })),
    );
    expect(takeAll(half, OWN)).toBe(5);
  });

  it.each([
    ['an IPv4 /24', (at: number) => `203.0.113.${at}`, 20],
    ['an IPv6 /64', () => '2001:db8:1:2::/64', 10],
    ['an IPv6 /56', (at: number) => `2001:db8:1:${at.toString(16)}::/64`, 20],
    ['an IPv6 /48', (at: number) => `2001:db8:1:${(at * 256).toString(16)}::/64`, 40],
    ['an IPv6 /32', (at: number) => `2001:db8:${at.toString(16)}:0::/64`, 60],
  ])('the clients of %s together get the multiple of one share', (_, clientOf, taken) => {
    const budget = new Budget({ total: 80 });
    for (let at = 0; at < 256; at++) takeAll(budget, clientOf(at));
    expect(budget.used(START)).toBe(taken);
  });

  it('a client has at most `most` units, and two beyond the fair part', () => {
    const terms = { total: 200, fair: 100, most: 5 };
    expect(takeAll(new Budget(terms), OWN)).toBe(5);
    expect(takeAll(new Budget({ ...terms, most: 1 }), OWN)).toBe(1);
    const full = new Budget(
      terms,
      Array.from({ length: 100 }, () => ({ client: null, at: START })),
    );
    expect(takeAll(full, OWN)).toBe(2);
  });
});

describe('units that are kept for work without a client', () => {
  const terms = { total: 12, kept: 6, windowMs: 1_000 };
  const clients = Array.from({ length: 30 }, (_, at) => `10.${at}.0.1`);
  const takeOfAll = (budget: Budget, now = START) =>
    clients.reduce((sum, client) => sum + takeAll(budget, client, now), 0);

  it('clients never use the kept units, and work without a client uses only those', () => {
    const first = new Budget(terms);
    expect([takeOfAll(first), takeAll(first, null), first.used(START)]).toEqual([6, 6, 12]);
    const second = new Budget(terms);
    expect([takeAll(second, null), takeOfAll(second)]).toEqual([6, 6]);
  });

  it('a client is refused until a unit for clients is free, even if a kept unit is free', () => {
    const budget = new Budget(terms);
    takeAll(budget, null);
    takeOfAll(budget, START + 300);
    expect(budget.take(OWN, START + 400)).toEqual({ ok: false, spentBy: 'all', retryAfterMs: 900 });
    expect(budget.take(null, START + 400)).toEqual({ ok: false, spentBy: 'all', retryAfterMs: 600 });
  });

  it('the share of a client is calculated from the units that are not kept', () => {
    expect(takeAll(new Budget({ total: 80, kept: 40 }), OWN)).toBe(5);
    const budget = new Budget({ total: 80, kept: 40 });
    takeAll(budget, null);
    expect(takeAll(budget, OWN)).toBe(5);
  });
});

describe('a share that is free before the window ends', () => {
  const terms = { total: 80, windowMs: 8_000, shareMs: 1_000 };

  it('a single client gets less in each later share period, and never the total', () => {
    const budget = new Budget(terms);
    const taken = Array.from({ length: 8 }, (_, at) => takeAll(budget, OWN, START + at * 1_000));
    expect(taken).toEqual([10, 8, 7, 6, 6, 5, 4, 4]);
    expect(budget.used(START + 7_000)).toBe(50);
    expect(takeAll(budget, OWN, START + 8_000)).toBe(5);
  });

  it("the verdict says when the client's share is free again", () => {
    const budget = new Budget(terms);
    takeAll(budget, OWN);
    expect(budget.take(OWN, START + 300)).toEqual({ ok: false, spentBy: 'client', retryAfterMs: 700 });
  });

  it('a unit that is given back after its share time is counted once', () => {
    const budget = new Budget(terms);
    takeAll(budget, OWN);
    expect(budget.used(START + 1_000)).toBe(10);
    budget.giveBack(OWN);
    expect(budget.used(START + 1_000)).toBe(9);
    expect(takeAll(budget, OWN, START + 1_000)).toBe(8);
  });
});

describe('the verdict', () => {
  it('the verdict says who has used the units, and when one is free again', () => {
    const budget = new Budget({ total: 20, windowMs: 1_000 });
    takeAll(budget, OWN);
    expect(budget.take(OWN, START + 300)).toEqual({ ok: false, spentBy: 'client', retryAfterMs: 700 });
    takeAll(budget, null, START + 400);
    expect(budget.take(OTHER, START + 500)).toEqual({ ok: false, spentBy: 'all', retryAfterMs: 500 });
    expect(budget.take(OWN, START + 1_000)).toEqual({ ok: true });
  });

  it('a check uses no unit', () => {
    const budget = new Budget({ total: 1 });
    for (let at = 0; at < 5; at++) expect(budget.check(OWN, START)).toEqual({ ok: true });
    expect(budget.used(START)).toBe(0);
  });

  it('a unit that is given back can be taken again, and an unknown client gives nothing back', () => {
    const budget = new Budget({ total: 2 });
    takeAll(budget, OWN);
    budget.giveBack(OTHER);
    expect(budget.take(OTHER, START)).toEqual({ ok: false, spentBy: 'all', retryAfterMs: 0 });
    budget.giveBack(OWN);
    expect(budget.take(OTHER, START)).toEqual({ ok: true });
  });

  it('frees units that were taken at a future time, after the clock went back', () => {
    const budget = new Budget({ total: 4, windowMs: 1_000 });
    takeAll(budget, null);
    expect(budget.take(OWN, START - 60_000)).toEqual({ ok: true });
  });
});

type Step = { readonly client: string; readonly afterMs: number; readonly givesBack: boolean };

const step: fc.Arbitrary<Step> = fc.record({
  client: fc.oneof(
    fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }))
      .map(([a, b]) => `10.0.${a}.${b}`),
    fc.tuple(fc.nat(3), fc.nat(3), fc.nat(700)).map(([a, b, c]) => `2001:${a}:${b}:${c.toString(16)}::/64`),
  ),
  afterMs: fc.integer({ min: 0, max: 400 }),
  givesBack: fc.boolean(),
});

const terms: fc.Arbitrary<BudgetTerms> = fc.record(
  { total: fc.integer({ min: 0, max: 60 }), windowMs: fc.integer({ min: 1, max: 2_000 }) },
  { requiredKeys: ['total'] },
);

it('callers never have more than the total in any window, and only the total refuses a client with fewer than two units', () => {
  fc.assert(
    fc.property(terms, fc.array(step, { maxLength: 200 }), ({ total, windowMs }, steps) => {
      const budget = new Budget(windowMs === undefined ? { total } : { total, windowMs });
      let held: { client: string; at: number }[] = [];
      let now = START;
      for (const { client, afterMs, givesBack } of steps) {
        now += afterMs;
        if (windowMs !== undefined) held = held.filter(({ at }) => at + windowMs > now);
        if (givesBack) {
          budget.giveBack(client);
          const newest = held.findLastIndex((use) => use.client === client);
          if (newest >= 0) held.splice(newest, 1);
        }
        const verdict = budget.take(client, now);
        if (verdict.ok) held.push({ client, at: now });
        expect(held.length).toBeLessThanOrEqual(total);
        expect(budget.used(now)).toBe(held.length);
        if (!verdict.ok) {
          expect(verdict.spentBy).toBe(held.length >= total ? 'all' : 'client');
          if (windowMs !== undefined) expect(verdict.retryAfterMs).toBeLessThanOrEqual(windowMs);
        }
      }
    }),
  );
});

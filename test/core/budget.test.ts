import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Budget, type BudgetTerms } from '../../src/core/budget.ts';
import { playSteps, scenes } from '../kit/scenes.ts';

const START = 1_800_000_000_000;
const CLIENTS: Readonly<Record<string, string | null>> = {
  own: '203.0.113.7',
  other: '198.51.100.9',
  nobody: null,
};
/** 256 clients of a network. */
const NETWORKS: Readonly<Record<string, (at: number) => string>> = {
  '/24': (at) => `203.0.113.${at}`,
  '/64': () => '2001:db8:1:2::/64',
  '/56': (at) => `2001:db8:1:${at.toString(16)}::/64`,
  '/48': (at) => `2001:db8:1:${(at * 256).toString(16)}::/64`,
  '/32': (at) => `2001:db8:${at.toString(16)}:0::/64`,
  '10.0/16': (at) => `10.${at % 30}.0.1`,
};

/** Plays the takes of a budget; `drain` takes until it is refused and gives the number of units. */
async function play(steps: string): Promise<void> {
  let budget = new Budget({ total: 0 });
  let now = START;
  const drain = (client: string | null): number => {
    let taken = 0;
    while (budget.take(client, now).ok) taken += 1;
    return taken;
  };
  const verbs = {
    /** @param terms `name:number`, and units that nobody holds already */
    budget(...terms: string[]) {
      const { taken = 0, ...rest } = Object.fromEntries(
        terms.map((term) => [term.split(':')[0], Number(term.split(':')[1])]),
      );
      budget = new Budget(
        rest as BudgetTerms,
        Array.from({ length: taken }, () => ({ client: null, at: START })),
      );
    },
    at: (ms: string) => {
      now = START + Number(ms);
    },
    drain: (client: string) => drain(CLIENTS[client] ?? null),
    'drain-network': (name: string) =>
      Array.from({ length: 256 }, (_, at) => drain(NETWORKS[name]?.(at) ?? null)).reduce((sum, n) => sum + n),
    take(client: string) {
      const verdict = budget.take(CLIENTS[client] ?? null, now);
      return verdict.ok ? 'ok' : `${verdict.spentBy} ${verdict.retryAfterMs}ms`;
    },
    check: (client: string) => budget.check(CLIENTS[client] ?? null, now).ok,
    return: (client: string) => budget.giveBack(CLIENTS[client] ?? ''),
    used: () => budget.used(now),
  };
  await playSteps(steps, verbs);
}

it.each(
  scenes(`
    a client gets an eighth of the units, but at least two
      | budget total:80; drain own = 10; budget total:12; drain own = 2; budget total:1; drain own = 1; budget total:0; drain own = 0
    work without a client gets all units
      | budget total:80; drain nobody = 80
    a client gets an eighth of what others have left
      | budget total:80 taken:40; drain own = 5
    the clients of a network together get a multiple of one share
      | budget total:80; drain-network /24 = 20; budget total:80; drain-network /64 = 10; budget total:80; drain-network /56 = 20; budget total:80; drain-network /48 = 40; budget total:80; drain-network /32 = 60
    a client has at most \`most\` units, and two beyond the fair part
      | budget total:200 fair:100 most:5; drain own = 5; budget total:200 fair:100 most:1; drain own = 1; budget total:200 fair:100 most:5 taken:100; drain own = 2
    clients never use the units that are kept for work without a client
      | budget total:12 kept:6 windowMs:1000; drain-network 10.0/16 = 6; drain nobody = 6; used = 12
    work without a client uses the kept units first
      | budget total:12 kept:6 windowMs:1000; drain nobody = 6; drain-network 10.0/16 = 6
    a client is refused until a unit for clients is free, even if a kept unit is free
      | budget total:12 kept:6 windowMs:1000; drain nobody; at 300; drain-network 10.0/16; at 400; take own = all 900ms; take nobody = all 600ms
    the share of a client is calculated from the units that are not kept
      | budget total:80 kept:40; drain own = 5; budget total:80 kept:40; drain nobody; drain own = 5
    a single client gets less in each later share period, and never the total
      | budget total:80 windowMs:8000 shareMs:1000; drain own = 10; at 1000; drain own = 8; at 2000; drain own = 7; at 3000; drain own = 6; at 4000; drain own = 6; at 5000; drain own = 5; at 6000; drain own = 4; at 7000; drain own = 4; used = 50; at 8000; drain own = 5
    the verdict says when the share of a client is free again
      | budget total:80 windowMs:8000 shareMs:1000; drain own; at 300; take own = client 700ms
    a unit that is given back after its share time is counted once
      | budget total:80 windowMs:8000 shareMs:1000; drain own; at 1000; used = 10; return own; used = 9; drain own = 8
    the verdict says who has used the units, and when a unit is free again
      | budget total:20 windowMs:1000; drain own; at 300; take own = client 700ms; at 400; drain nobody; at 500; take other = all 500ms; at 1000; take own = ok
    a check uses no unit
      | budget total:1; check own = true; check own = true; check own = true; used = 0
    a unit that is given back can be taken again, and an unknown client gives nothing back
      | budget total:2; drain own; return other; take other = all 0ms; return own; take other = ok
    units that were taken at a future time are free after the clock went back
      | budget total:4 windowMs:1000; drain nobody; at -60000; take own = ok
  `),
)('%s', (_title, steps = '') => play(steps));

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

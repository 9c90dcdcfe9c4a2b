/**
 * Days of the reserve in simulated time: the production custodian and mint rule over models of both chains, with
 * everything that goes wrong drawn from one seed.
 */
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/durations.ts';
import type { AbsrPorts } from '../../../src/custody/reserve/daily-mint.ts';
import { createBooks } from './absr-books.ts';
import { createService, DECIMALS, DEPTH, SOL } from './absr-service.ts';
import type { IndexFault } from './bitcoin-model.ts';
import { HEALTHY } from './solana-model.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const BLOCKS_A_DAY = 144;
const SCALE = 10n ** BigInt(DECIMALS);
/** The last days have no faults, so that open operations can end. */
const QUIET_DAYS = 3;

export type YearOptions = {
  readonly seed: number;
  readonly days: number;
  /** Replaces parts of the mint, to test whether this simulation detects it. */
  readonly mutate?: (ports: AbsrPorts) => AbsrPorts;
};

export type YearResult = {
  readonly mints: number;
  readonly mostMintsInADay: number;
  /** Simulated milliseconds in which tokens were not covered, by cause. */
  readonly uncoveredMs: { readonly service: number; readonly others: number };
  readonly supplyAtoms: bigint;
  readonly reserveSats: bigint;
  readonly swapsFinished: number;
  readonly happened: Readonly<Record<string, number>>;
};

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Event = { readonly at: number; readonly run: () => void | Promise<void> };

export async function simulateYear({ seed, days, mutate }: YearOptions): Promise<YearResult> {
  const random = mulberry32(seed);
  const chance = (p: number): boolean => random() < p;
  const between = (low: number, high: number): number => low + random() * (high - low);
  const whole = (low: number, high: number): number => Math.floor(between(low, high));

  const happened: Record<string, number> = {};
  function count(name: string): void {
    happened[name] = (happened[name] ?? 0) + 1;
  }

  const service = createService({
    at: START,
    lamports: 20n * SOL,
    fate: () => (chance(0.2) ? 'lost' : { landsAfter: whole(1, 12) }),
    random,
    count,
    ...(mutate && { mutate }),
  });
  const { clock, bitcoin, indexes, solana, call } = service;
  const now = (): number => clock.now;
  const books = createBooks({
    now,
    gap: () => solana.supply() - bitcoin.cover() * SCALE,
    settledGap: () => solana.supply() - bitcoin.settled(DEPTH) * SCALE,
  });
  const { byOthers } = books;
  const events: Event[] = [];
  function plan(at: number, run: Event['run']): void {
    events.splice(events.findLastIndex((event) => event.at <= at) + 1, 0, { at, run });
  }
  /** A fault from then on, for a time. */
  function disturb(name: string, from: number, most: number, begin: () => void, end: () => void): void {
    plan(from, () => {
      count(name);
      begin();
    });
    plan(from + between(MINUTE_MS, most), end);
  }

  const mintsByDay = new Map<string, number>();
  const spends: { readonly at: number; readonly sats: bigint }[] = [];
  solana.onLanded(({ effect, time }) => {
    if (effect.mint > 0n) {
      const day = new Date(time * 1_000).toISOString().slice(0, 10);
      mintsByDay.set(day, (mintsByDay.get(day) ?? 0) + 1);
      const late = spends.filter(({ at }) => at >= now() - 2 * MINUTE_MS);
      books.excuseLanding(late.reduce((sum, { sats }) => sum + sats, 0n) * SCALE);
    }
    const swap = effect.paid && service.swaps.get(effect.paid.to);
    if (!swap) return;
    plan(now() + between(5, 40) * MINUTE_MS, () =>
      byOthers(() => {
        swap.txid = bitcoin.move(swap.sats);
      }),
    );
  });

  const deposit = (): void => byOthers(() => void bitcoin.move(BigInt(whole(1_000, 200_000))));

  function spend(): void {
    const amount = (bitcoin.reserve() * BigInt(whole(1, 5))) / 100n;
    if (amount <= 0n) return;
    count('spend');
    spends.push({ at: now(), sats: amount });
    byOthers(() => void bitcoin.move(-amount));
  }

  /** Replaces fewer blocks than the rule's depth: no removed income may have been minted against. */
  function shallowReorg(dropped: number): void {
    count('reorg');
    books.account();
    const change = () => bitcoin.reorg(whole(1, DEPTH), now(), () => chance(dropped));
    if (books.isCovered()) change();
    else byOthers(change);
  }

  function deepReorg(): void {
    count('deep reorg');
    byOthers(() => bitcoin.reorg(whole(DEPTH, 8), now(), () => chance(0.3)));
  }

  function planCron(midnight: number, calm: boolean): void {
    const dies = (p: number): boolean => !calm && chance(p);
    if (dies(0.06)) {
      count('cron missed');
      return;
    }
    const due = midnight + 5 * MINUTE_MS + (chance(0.1) ? between(0, 4 * HOUR_MS) : 0);
    const twice = chance(0.15);
    if (twice) count('cron twice');
    plan(due, async () => {
      const first = call((custody) => custody.wake(), dies(0.1));
      await Promise.all([first, twice ? call((custody) => custody.wake(), false) : undefined]);
    });
    for (let hour = 1; hour < 24; hour++) {
      plan(midnight + hour * HOUR_MS, () => call((custody) => custody.wake(), dies(0.01)));
    }
  }

  function planFaults(midnight: number): void {
    const when = (): number => midnight + (chance(0.5) ? between(0, 10 * MINUTE_MS) : between(0, DAY_MS));
    for (const index of indexes.filter(() => chance(0.2))) {
      const by = chance(0.3) ? -1n : BigInt(whole(1, 500_000));
      const faults: IndexFault[] = [
        { kind: 'down' },
        { kind: 'stale' },
        { kind: 'hides' },
        { kind: 'wrong', by },
      ];
      const fault = faults[whole(0, faults.length)] ?? { kind: 'down' };
      disturb(
        `index ${fault.kind}`,
        when(),
        10 * HOUR_MS,
        () => index.set(fault),
        () => index.set(null),
      );
    }
    for (const node of [0, 1].filter(() => chance(0.15))) {
      const down = chance(0.5);
      const fault = { down, lagSlots: down ? 0 : whole(50, 50 * 1_200 ** random()) };
      const name = down ? 'node down' : 'node lags';
      disturb(
        name,
        when(),
        5 * HOUR_MS,
        () => solana.setNode(node, fault),
        () => solana.setNode(node, HEALTHY),
      );
    }
    if (chance(0.05)) {
      disturb(
        'D1 down',
        when(),
        HOUR_MS,
        () => {
          service.mirror.state = 'down';
        },
        () => {
          service.mirror.state = 'up';
        },
      );
    }
    if (chance(0.3)) plan(when(), service.restart);
  }

  function planReserve(midnight: number): void {
    const when = (): number => midnight + between(0, DAY_MS);
    for (let deposits = whole(0, 3); deposits > 0; deposits--) plan(when(), deposit);
    // Around the time of the mint: a deposit with too few confirmations, replaced blocks, an unconfirmed spend.
    if (chance(0.25)) {
      plan(midnight + between(-15, 5) * MINUTE_MS, deposit);
      plan(midnight + between(6, 40) * MINUTE_MS, () => shallowReorg(1));
    }
    if (chance(0.02)) plan(midnight + between(0, 5) * MINUTE_MS, spend);
    if (chance(0.01)) plan(when(), spend);
    if (chance(0.1)) plan(when(), () => shallowReorg(0.5));
    if (chance(0.02)) plan(when(), deepReorg);
    if (chance(0.35)) {
      const amountLamports = lamports(BigInt(whole(100, 500)) * 1_000_000n);
      plan(when(), () => call((custody) => custody.createSwap({ amountLamports, client: 'x' }), chance(0.1)));
    }
    if (solana.lamports() < 3n * SOL) plan(when(), () => solana.topUp(10n * SOL));
  }

  const end = START + days * DAY_MS;
  const quiet = end - QUIET_DAYS * DAY_MS;
  // A block may come between two answers of one read.
  bitcoin.onCall = () => {
    if (now() < quiet && chance(0.002)) byOthers(() => bitcoin.mine(now()));
  };

  function planDay(midnight: number): void {
    const calm = midnight >= quiet;
    for (let block = 0; block < BLOCKS_A_DAY; block++) {
      const at = midnight + (block + random()) * (DAY_MS / BLOCKS_A_DAY);
      plan(at, () => byOthers(() => bitcoin.mine(now(), () => calm || chance(0.8))));
    }
    planCron(midnight, calm);
    if (calm) return;
    planFaults(midnight);
    planReserve(midnight);
  }

  async function runUntil(end: number): Promise<void> {
    for (;;) {
      const next = events[0]?.at ?? Number.POSITIVE_INFINITY;
      const alarm = service.storage.alarm ?? Number.POSITIVE_INFINITY;
      const landing = solana.nextLanding() ?? Number.POSITIVE_INFINITY;
      const at = Math.max(Math.min(next, alarm, landing), now());
      if (at > end) return;
      books.account();
      clock.now = at;
      books.account();
      solana.advance();
      if (alarm <= Math.min(next, landing)) {
        service.storage.alarm = null;
        await call((custody) => custody.alarm(), now() < quiet && chance(0.0005));
      } else if (next <= landing) await events.shift()?.run();
      books.account();
    }
  }

  byOthers(() => void bitcoin.move(1_000_000n));
  // Returns every spent sat and more, so that supply and reserve can be equal at the end.
  plan(quiet + 1, () => {
    for (const index of indexes) index.set(null);
    for (const node of [0, 1]) solana.setNode(node, HEALTHY);
    service.mirror.state = 'up';
    const missing = solana.supply() / SCALE - bitcoin.cover();
    byOthers(() => void bitcoin.move((missing > 0n ? missing : 0n) + 1_000n));
  });
  for (let midnight = START; midnight < end; midnight += DAY_MS) {
    planDay(midnight);
    await runUntil(midnight + DAY_MS);
  }

  return {
    mints: [...mintsByDay.values()].reduce((sum, mints) => sum + mints, 0),
    mostMintsInADay: Math.max(0, ...mintsByDay.values()),
    uncoveredMs: books.uncoveredMs,
    supplyAtoms: solana.supply(),
    reserveSats: bitcoin.reserve(),
    swapsFinished: [...service.mirror.rows.values()].filter(
      (row) => row.entity === 'operation' && row.operation.kind === 'swap' && row.operation.state === 'done',
    ).length,
    happened,
  };
}

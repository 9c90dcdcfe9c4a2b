import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { openJournal } from '../../../src/custody/kernel/journal.ts';
import {
  createTreasuryScan,
  type PaymentTaker,
  payerOf,
} from '../../../src/custody/payments/treasury-scan.ts';
import { openTreasuryStore, type TreasuryPayment } from '../../../src/custody/payments/treasury-store.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createSqliteStorage } from '../sqlite-storage.ts';

const TREASURY = 'treasury';
const T0 = 1_800_000_000;

/** A finalized transaction in which `payer` gives the treasury so many lamports. */
function payment(
  signature: string,
  lamports: bigint,
  over: Partial<ChainTransaction> = {},
): ChainTransaction {
  return {
    signature,
    slot: BigInt(signature.replace(/\D/g, '')),
    blockTime: T0,
    failed: false,
    fee: 5_000n,
    accounts: ['payer', TREASURY],
    signers: ['payer'],
    preLamports: [10_000_000_000n, 1_000n],
    postLamports: [10_000_000_000n - lamports - 5_000n, 1_000n + lamports],
    preTokens: null,
    postTokens: null,
    ...over,
  };
}

/** The chain newest first, a flow that takes payments of exactly 100 lamports, and the scan between them. */
function setUp() {
  const storage = createSqliteStorage();
  const journal = openJournal(storage);
  const payments = openTreasuryStore(storage);
  const chain: ChainTransaction[] = [];
  const missing = new Set<string>();
  const taken: TreasuryPayment[] = [];
  const state = {
    waiting: (T0 * 1_000) as number | undefined,
    calls: 0,
    hideUntil: false,
    said: [] as unknown[],
    poison: '',
    /** Of a version that nodes do not show us. */
    unreadable: '',
    pages: [] as { limit: number; before?: string; until?: string }[],
  };
  const taker: PaymentTaker = {
    waitingSince: () => state.waiting,
    take(found) {
      if (found.signature === state.poison) throw new Error('cannot be booked');
      if (found.lamports !== 100n) return null;
      taken.push(found);
      return `invoice:${found.signature}`;
    },
  };
  const scan = createTreasuryScan({
    journal,
    storage,
    payments,
    treasuryAddress: TREASURY,
    reserveAddress: 'reserve',
    takers: [taker],
    now: () => T0 * 1_000,
    log: (line) => void state.said.push(line),
    async signatures(page) {
      const { limit, before, until } = page;
      state.calls++;
      state.pages.push(page);
      const from = before === undefined ? 0 : chain.findIndex((tx) => tx.signature === before) + 1;
      const known =
        until === undefined || state.hideUntil ? -1 : chain.findIndex((tx) => tx.signature === until);
      return chain.slice(from, Math.min(from + limit, known < 0 ? chain.length : known)).map((tx) => ({
        signature: tx.signature,
        slot: tx.slot,
        err: tx.failed ? { InstructionError: [0, 'x'] } : null,
        blockTime: tx.blockTime,
      }));
    },
    async transaction(signature) {
      if (signature === state.unreadable) throw upstreamFailed('solana-rpc', 'rpc_-32015');
      return missing.has(signature) ? null : (chain.find((tx) => tx.signature === signature) ?? null);
    },
  });
  const runAll = async () => {
    for (let runs = 0; runs < 200 && (await scan.run()); runs++);
  };
  return { chain, missing, taken, state, scan, storage, payments, runAll };
}

let world: ReturnType<typeof setUp>;
beforeEach(() => {
  world = setUp();
});

const recorded = (where: string) =>
  world.storage.exec(`SELECT signature FROM treasury_payments WHERE ${where}`);

describe('the walk', () => {
  it('books every payment once, however often it runs', async () => {
    for (let n = 1; n <= 55; n++) world.chain.unshift(payment(`s${n}`, n % 5 === 0 ? 100n : 7n));
    for (let round = 0; round < 4; round++) await world.runAll();
    expect(world.taken.map(({ signature }) => signature).sort()).toEqual(
      [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55].map((n) => `s${n}`).sort(),
    );
    expect(recorded('purpose IS NULL')).toHaveLength(44);
  });

  it('asks the chain nothing while no request waits', async () => {
    world.state.waiting = undefined;
    world.chain.unshift(payment('s1', 100n));
    expect(await world.scan.run()).toBe(false);
    expect(world.state.calls).toBe(0);
  });

  it('looks at no transaction from before the oldest request', async () => {
    world.chain.unshift(payment('s1', 100n, { blockTime: T0 - 3_600 }));
    world.chain.unshift(payment('s2', 100n));
    await world.runAll();
    expect(world.taken.map(({ signature }) => signature)).toEqual(['s2']);
  });

  it.each([
    ['two minutes before it, since clocks differ', T0 - 120, ['s1']],
    ['a second longer before it', T0 - 121, []],
    ['at a time that the node does not tell', null, ['s1']],
  ])('looks at what was paid %s', async (_name, blockTime, taken) => {
    world.chain.unshift(payment('s1', 100n, { blockTime }));
    await world.runAll();
    expect(world.taken.map(({ signature }) => signature)).toEqual(taken);
  });

  it('ends at the first payment that is too old: nobody waits for what lies below', async () => {
    for (let n = 1; n <= 30; n++) world.chain.unshift(payment(`s${n}`, 100n, { blockTime: T0 - 121 }));
    expect(await world.scan.run()).toBe(false);
    expect(world.state.calls).toBe(1);
  });

  it('measures the age of a payment to the millisecond of the request', async () => {
    world.state.waiting = T0 * 1_000 + 1;
    world.chain.unshift(payment('s1', 100n, { blockTime: T0 - 120 }));
    await world.runAll();
    expect(world.taken).toEqual([]);
  });

  it('reads twenty at a time, and the next walk only down to where this one began', async () => {
    for (let n = 1; n <= 25; n++) world.chain.unshift(payment(`s${n}`, 100n));
    expect(await world.scan.run()).toBe(true);
    expect(world.taken).toHaveLength(20);
    expect(await world.scan.run()).toBe(false);
    // Two walks that find nothing new keep the place.
    await world.scan.run();
    await world.scan.run();
    world.chain.unshift(payment('s26', 100n));
    await world.scan.run();
    expect(world.state.pages).toEqual([
      { limit: 20 },
      { limit: 20, before: 's6' },
      { limit: 20, until: 's25' },
      { limit: 20, until: 's25' },
      { limit: 20, until: 's25' },
    ]);
    expect(world.scan.walk()).toBe(5);
    expect(world.taken).toHaveLength(26);
  });

  it('takes old payments too once it has a place to end: they arrived after it', async () => {
    world.chain.unshift(payment('s1', 100n));
    await world.runAll();
    world.chain.unshift(payment('s2', 100n, { blockTime: T0 - 3_600 }));
    await world.runAll();
    expect(world.taken.map(({ signature }) => signature)).toEqual(['s1', 's2']);
  });

  it('goes on below a payment that somebody pointed at while it was under way', async () => {
    for (let n = 1; n <= 30; n++) world.chain.unshift(payment(`s${n}`, 100n));
    await world.scan.look('s30');
    await world.runAll();
    expect(world.taken).toHaveLength(30);
  });

  it('gives up after two thousand signatures that pay nothing, and begins anew at the top', async () => {
    for (let n = 1; n <= 2_100; n++) world.chain.unshift(payment(`s${n}`, 100n, { failed: true }));
    let runs = 1;
    while (await world.scan.run()) runs++;
    expect(runs).toBe(100);
    world.chain.unshift(payment('s2101', 100n));
    await world.scan.run();
    expect(world.taken.map(({ signature }) => signature)).toEqual(['s2101']);
  });

  it('waits for a transaction that the node lists but does not have yet', async () => {
    world.chain.unshift(payment('s1', 100n), payment('s0', 100n));
    world.missing.add('s0');
    expect(await world.scan.run()).toBe(true);
    world.missing.clear();
    await world.runAll();
    expect(world.taken.map(({ signature }) => signature).sort()).toEqual(['s0', 's1']);
  });

  it('goes past a payment that cannot be booked, which is told, and booked once somebody points at it', async () => {
    world.chain.unshift(payment('s1', 100n), payment('s0', 100n));
    world.state.poison = 's0';
    await world.runAll();
    expect(world.taken.map(({ signature }) => signature)).toEqual(['s1']);
    expect(world.state.said).toMatchObject([{ level: 'alarm', event: 'payment_unbooked', signature: 's0' }]);
    await expect(world.scan.look('s0')).rejects.toThrow('cannot be booked');
    world.state.poison = '';
    await world.scan.look('s0');
    expect(world.taken.map(({ signature }) => signature)).toEqual(['s1', 's0']);
  });

  it('goes past a transaction of a version that it cannot read, and tells: anybody can send one', async () => {
    for (let n = 1; n <= 30; n++) world.chain.unshift(payment(`s${n}`, 100n));
    world.state.unreadable = 's25';
    await world.runAll();
    expect(world.taken).toHaveLength(29);
    expect(world.state.said).toMatchObject([
      { level: 'alarm', event: 'payment_unbooked', signature: 's25', error: expect.any(String) },
    ]);
    await expect(world.scan.look('s25')).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });

  it('stops at what it has seen when a node does not know where the last walk began', async () => {
    for (let n = 1; n <= 30; n++) world.chain.unshift(payment(`s${n}`, 100n));
    await world.runAll();
    world.state.hideUntil = true;
    world.chain.unshift(payment('s31', 100n));
    world.state.calls = 0;
    await world.runAll();
    expect(world.state.calls).toBe(1);
    expect(world.taken).toHaveLength(31);
  });

  it('finds each payment exactly once while new ones arrive between its runs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 45 }), { minLength: 1, maxLength: 8 }),
        async (bursts) => {
          const fresh = setUp();
          let n = 0;
          for (const burst of bursts) {
            for (let i = 0; i < burst; i++) fresh.chain.unshift(payment(`s${++n}`, 100n));
            await fresh.scan.run();
          }
          await fresh.runAll();
          await fresh.runAll();
          expect(fresh.taken.map(({ signature }) => signature).sort()).toEqual(
            fresh.chain.map(({ signature }) => signature).sort(),
          );
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('what counts as a payment', () => {
  it('a failed transaction and one that takes from the treasury do not', async () => {
    world.chain.unshift(payment('s1', 100n, { failed: true }));
    world.chain.unshift(payment('s2', -100n));
    await world.runAll();
    expect(world.taken).toEqual([]);
    expect(recorded('TRUE')).toEqual([]);
  });

  it('one that somebody points at counts no more than one that is found', async () => {
    world.chain.unshift(
      payment('s1', 100n, { failed: true }),
      payment('s2', -100n),
      payment('s3', 0n),
      payment('s4', 100n, { accounts: ['payer', 'somebody else'] }),
    );
    for (const signature of ['s1', 's2', 's3', 's4']) {
      expect(await world.scan.look(signature)).toMatchObject({ signature });
      expect(world.payments.get(signature)).toBeUndefined();
    }
    expect(await world.scan.look('s5')).toBeNull();
  });

  it.each(['reserve', TREASURY])(
    'our own movement, signed by the %s, is seen and pays for nothing',
    async (own) => {
      const change = { accounts: ['payer', TREASURY, own], signers: ['payer', own] };
      const lamports = { preLamports: [9_000n, 0n, 9n], postLamports: [3_900n, 100n, 9n] };
      world.chain.unshift(payment('s1', 100n, { ...change, ...lamports }));
      await world.runAll();
      expect(world.payments.get('s1')).toMatchObject({ lamports: 100n, purpose: null });
      expect(world.taken).toEqual([]);
    },
  );

  it('a payment that fitted nothing is taken when somebody points at it after its request was made', async () => {
    world.chain.unshift(payment('s1', 7n));
    await world.runAll();
    expect(world.payments.get('s1')?.purpose).toBeNull();
    world.chain[0] = payment('s1', 100n);
    await world.scan.look('s1');
    expect(world.payments.get('s1')?.purpose).toBe('invoice:s1');
    await world.scan.look('s1');
    expect(world.taken).toHaveLength(1);
  });

  it.each([
    ['one payer', payment('s1', 100n), 'payer'],
    [
      'a fee payer who gave nothing beside the one who did',
      payment('s1', 100n, {
        accounts: ['relayer', 'payer', TREASURY],
        signers: ['relayer', 'payer'],
        preLamports: [50_000n, 1_000n, 0n],
        postLamports: [45_000n, 900n, 100n],
      }),
      'payer',
    ],
    [
      'two payers',
      payment('s1', 100n, {
        accounts: ['a', 'b', TREASURY],
        signers: ['a', 'b'],
        preLamports: [50_000n, 1_000n, 0n],
        postLamports: [44_950n, 950n, 100n],
      }),
      null,
    ],
    [
      'a sponsor of the fee who gave one lamport more',
      payment('s1', 1n, {
        accounts: ['sponsor', 'witness', TREASURY],
        signers: ['sponsor', 'witness'],
        preLamports: [50_000n, 900n, 0n],
        postLamports: [44_999n, 900n, 1n],
      }),
      'sponsor',
    ],
    [
      'a second signer who gave one lamport',
      payment('s1', 1n, {
        accounts: ['sponsor', 'payer', TREASURY],
        signers: ['sponsor', 'payer'],
        preLamports: [50_000n, 900n, 0n],
        postLamports: [45_000n, 899n, 1n],
      }),
      'payer',
    ],
    [
      'no signer at all, a program paid',
      payment('s1', 100n, {
        accounts: ['sponsor', 'vault', TREASURY],
        signers: ['sponsor'],
        preLamports: [50_000n, 900n, 0n],
        postLamports: [45_000n, 800n, 100n],
      }),
      null,
    ],
    [
      'the treasury itself',
      payment('s1', 100n, {
        accounts: [TREASURY, 'somebody'],
        signers: [TREASURY],
        preLamports: [50_000n, 0n],
        postLamports: [44_900n, 100n],
      }),
      null,
    ],
    [
      'a signer whose balances the node does not give',
      payment('s1', 100n, { accounts: ['a', TREASURY] }),
      null,
    ],
  ])('the payer of %s', (_name, transaction, expected) => {
    expect(payerOf(transaction, TREASURY)).toBe(expected);
  });
});

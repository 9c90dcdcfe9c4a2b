import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { Booking } from '../../../src/custody/payments/booking.ts';
import { type TreasuryPayment, TreasuryStore } from '../../../src/custody/payments/treasury-store.ts';
import { type TreasuryNode, TreasuryWalk } from '../../../src/custody/payments/treasury-walk.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const TREASURY = 'treasury';
const T0 = 1_800_000_000;
/** Transactions that one run reads for each node's head, and for its gap. */
const SHARE = 20;

/** A finalized transaction in which `payer` pays the treasury this number of lamports. */
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

/** A chain, newest first, nodes that list it, and the walk that books payments of exactly 100 lamports. */
function setUp(nodeCount = 1) {
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  const payments = new TreasuryStore(storage);
  const chain: ChainTransaction[] = [];
  const taken: TreasuryPayment[] = [];
  const state = {
    now: T0 * 1_000,
    since: T0 * 1_000,
    reads: 0,
    lists: 0,
    said: [] as Record<string, unknown>[],
    /** The booking of this transaction throws. */
    poison: '',
    /** Of a version that nodes refuse to show. */
    unreadable: '',
    /** Listed, but no node has it. */
    missing: new Set<string>(),
    /** No node responds. */
    down: false,
    /** No node responds to a request for transactions below another. */
    shallow: false,
    /** Listed, but no node responds to a request for it. */
    silent: '',
    /** Listed as a success and shown as failed. */
    noop: '',
    /** The oldest slot of each node's history; 0 where absent. */
    oldestSlots: [] as bigint[],
    /** Entries that node 1 does not list. */
    hidden: new Set<string>(),
    /** Entries that only node 1 lists, at the top. */
    invented: [] as string[],
    /** The slot of these; that of the newest transaction if undefined. */
    inventedSlot: undefined as bigint | undefined,
  };
  const log = (line: Readonly<Record<string, unknown>>) => void state.said.push(line);
  const now = () => state.now;
  const booking = new Booking({
    storage,
    payments,
    treasuryAddress: TREASURY,
    reserveAddress: 'reserve',
    take(found) {
      if (found.signature === state.poison) throw new Error('cannot be booked');
      if (found.lamports !== 100n) return { purpose: null };
      taken.push(found);
      return { purpose: `token:${found.signature}` };
    },
    async transaction(signature) {
      state.reads++;
      if (state.down || signature === state.silent) throw upstreamFailed('solana-rpc', 'timeout');
      if (signature === state.unreadable) throw upstreamFailed('solana-rpc', 'rpc_-32015');
      if (state.missing.has(signature)) return null;
      const found = chain.find((tx) => tx.signature === signature) ?? null;
      return found && { ...found, failed: found.failed || signature === state.noop };
    },
    now,
    log,
  });
  /** Books a transaction that a caller names. */
  async function confirm(signature: string): Promise<ChainTransaction | null> {
    const found = chain.find((tx) => tx.signature === signature) ?? null;
    if (found) booking.confirm(found);
    return found;
  }
  const nodes = Array.from(
    { length: nodeCount },
    (_, index): TreasuryNode => ({
      name: `node-${index + 1}`,
      async signaturesFor(address, { limit, before }) {
        expect(address).toBe(TREASURY);
        state.lists++;
        if (state.down || (state.shallow && before !== undefined))
          throw upstreamFailed('solana-rpc', 'timeout');
        const honest = chain
          .filter(({ signature }) => index > 0 || !state.hidden.has(signature))
          .map(({ signature, slot, failed, blockTime }) => ({
            signature,
            slot,
            err: failed ? { InstructionError: [0, 'x'] } : null,
            blockTime,
          }));
        const top = state.inventedSlot ?? honest[0]?.slot ?? 0n;
        const fake = state.invented.map((signature) => ({ signature, slot: top, err: null, blockTime: T0 }));
        const list = index === 0 ? [...fake, ...honest] : honest;
        const from = before === undefined ? 0 : list.findIndex(({ signature }) => signature === before) + 1;
        // A node without the transaction `before` lists nothing.
        if (before !== undefined && from === 0) return [];
        return list.slice(from, from + limit).filter(({ slot }) => slot >= (state.oldestSlots[index] ?? 0n));
      },
      firstAvailableBlock: async () => state.oldestSlots[index] ?? 0n,
    }),
  );
  const ports = { journal, booking, nodes, treasuryAddress: TREASURY, now, log };
  let walk = new TreasuryWalk(ports);
  const run = (reads = 2 * SHARE * nodeCount) => walk.run(state.since, { reads });
  return {
    chain,
    taken,
    state,
    storage,
    payments,
    booking,
    confirm,
    run,
    behind: () => walk.readUntil(),
    restart() {
      walk = new TreasuryWalk(ports);
    },
    /** Runs until nothing is left to read; returns the number of runs. */
    async runAll(most = 200) {
      for (let runs = 1; runs <= most; runs++) {
        const { reads } = state;
        await run();
        if (state.reads === reads && walk.readUntil() === null) return runs;
      }
      return most;
    },
  };
}

const names = (taken: readonly TreasuryPayment[]) => taken.map(({ signature }) => signature).sort();
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

let world: ReturnType<typeof setUp>;
beforeEach(() => {
  world = setUp();
});

describe('the walk over the treasury', () => {
  /** Node 1 lists a slot that does not exist, once. */
  async function inventTop(): Promise<void> {
    world.state.invented = ['x9'];
    world.state.inventedSlot = 10n ** 15n;
    await world.run();
    world.state.invented = [];
  }
  const retreats = () => world.state.said.filter(({ event }) => event === 'treasury_list_retreated').length;

  it('the walk keeps its position when a confirm records a transaction during a long walk', async () => {
    for (const n of range(1, 190)) world.chain.unshift(payment(`s${n}`, n === 10 ? 100n : 1n));
    await world.run();
    await world.confirm('s150');
    world.chain.unshift(payment('s191', 1n));
    await world.confirm('s191');
    await world.runAll();
    expect(names(world.taken)).toEqual(['s10']);
  });

  it('the walk finds a payment older than 2,100 transfers of dust, and new payments while it reads them', async () => {
    world.chain.unshift(payment('s0', 100n));
    await world.runAll();
    for (const n of range(1, 2_100)) world.chain.unshift(payment(`s${n}`, n === 5 ? 100n : 1n));
    await world.run();
    world.chain.unshift(payment('s2101', 100n));
    await world.run();
    expect(names(world.taken)).toEqual(['s0', 's2101']);
    await world.runAll();
    expect(names(world.taken)).toEqual(['s0', 's2101', 's5']);
    expect(world.behind()).toBeNull();
  });

  it('the walk continues from its stored position after a restart', async () => {
    for (const n of range(1, 100)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.run();
    world.restart();
    await world.runAll();
    expect(world.taken).toHaveLength(100);
    expect(world.state.reads).toBe(100);
  });

  it.each([
    ['a day and two minutes before the start is read, because our clock may be ahead', T0 - 86_520, ['s1']],
    ['a second older is omitted', T0 - 86_521, []],
    ['without a block time is read', null, ['s1']],
  ])(
    'the first walk over the treasury decides by the age of a payment whether to read it: %s',
    async (_name, blockTime, taken) => {
      world.chain.unshift(payment('s1', 100n, { blockTime }));
      await world.runAll();
      expect(names(world.taken)).toEqual(taken);
    },
  );

  it('the first walk over the treasury omits a payment that is a single millisecond too old', async () => {
    world.state.since += 1;
    world.chain.unshift(payment('s1', 100n, { blockTime: T0 - 86_520 }));
    await world.runAll();
    expect(world.taken).toEqual([]);
  });

  it('a run reads one page of 20 new transactions and one page of the gap, which repeats an entry of the first', async () => {
    for (const n of range(1, 60)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.run(1_000);
    expect(world.taken).toHaveLength(39);
  });

  it('the walk reads a payment that is newer than its head but in the same slot', async () => {
    world.chain.unshift(payment('s1', 100n));
    await world.runAll();
    world.chain.unshift(payment('s2', 100n, { slot: 1n }));
    await world.runAll();
    expect(names(world.taken)).toEqual(['s1', 's2']);
  });

  it('the walk reads a payment between the slot where its head failed and the slot where the same bytes land later', async () => {
    world.chain.unshift(payment('s1', 7n, { slot: 10n, failed: true }));
    await world.runAll();
    world.chain.unshift(payment('s1', 7n, { slot: 30n }), payment('s2', 100n, { slot: 20n }));
    await world.runAll();
    expect(names(world.taken)).toEqual(['s2']);
  });

  it('the walk raises no alarm while no new transaction is listed', async () => {
    world.chain.unshift(payment('s1', 100n));
    await world.runAll();
    for (let hours = 0; hours < 2; hours++) {
      world.state.now += 3_600_000;
      await world.run();
    }
    expect(world.state.said).toEqual([]);
  });

  it('the walk reads every transaction that is newer than its head, regardless of its block time', async () => {
    world.chain.unshift(payment('s1', 100n));
    await world.runAll();
    world.chain.unshift(payment('s2', 100n, { blockTime: T0 - 3_600 }));
    await world.runAll();
    expect(names(world.taken)).toEqual(['s1', 's2']);
  });

  it("the first walk continues after a response from a node that lacks the walk's position", async () => {
    for (const n of range(1, 40)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.run();
    const all = world.chain.splice(0);
    await world.run();
    world.chain.push(...all);
    await world.runAll();
    expect(world.taken).toHaveLength(40);
    expect(world.behind()).toBeNull();
  });

  it.each([20, 21, 39, 40, 41])(
    'the first walk ends when the history ends after %i transactions',
    async (count) => {
      for (const n of range(1, count)) world.chain.unshift(payment(`s${n}`, 100n));
      await world.runAll();
      expect([world.taken.length, world.behind()]).toEqual([count, null]);
    },
  );

  it('the walk over the treasury never moves its head back when a node lags', async () => {
    for (const n of range(1, 30)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.runAll();
    const newest = world.chain.splice(0, 5);
    await world.run();
    world.chain.unshift(...newest, payment('s31', 100n));
    world.chain.sort((a, b) => Number(b.slot - a.slot));
    await world.runAll();
    expect(world.state.reads).toBe(31);
  });

  it.each([
    ['keeps its place while one node', 1, 1],
    ['keeps its place while each of two nodes', 2, 2],
    ['keeps its place while one of two nodes', 2, 1],
    ['keeps its place while two of three nodes', 3, 2],
    ['leaves the rest to the other two when one of three nodes', 3, 1],
  ])(
    'the walk raises an alarm and %s has pruned the history below its position',
    async (_name, count, pruned) => {
      const w = setUp(count);
      w.chain.unshift(payment('s1', 100n));
      await w.runAll();
      for (const n of range(2, 60)) w.chain.unshift(payment(`s${n}`, 100n));
      await w.run();
      w.state.oldestSlots = Array(pruned).fill(40n);
      for (let runs = 0; runs < 10; runs++) await w.run();
      const isComplete = count - pruned >= 2;
      expect(w.behind() === null).toBe(isComplete);
      expect(w.state.said).toContainEqual(
        expect.objectContaining({ level: 'alarm', event: 'treasury_history_pruned', node: 'node-1' }),
      );
      // A node with the whole history takes the place of the one that has pruned it.
      if (!isComplete) w.state.oldestSlots = [];
      await w.runAll();
      expect(w.behind()).toBeNull();
      expect(w.taken).toHaveLength(60);
    },
  );

  it('the walk keeps its position and raises an alarm when a node lists no older transaction', async () => {
    world.chain.unshift(payment('s1', 100n));
    await world.runAll();
    for (const n of range(2, 60)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.run();
    const below = world.chain.splice(30, world.chain.length);
    for (let runs = 0; runs < 3; runs++) await world.run();
    expect(world.behind()).not.toBeNull();
    expect(world.state.said).toContainEqual({ level: 'alarm', event: 'treasury_walk_stuck', node: 'node-1' });
    world.chain.push(...below);
    await world.runAll();
    expect(world.taken).toHaveLength(60);
  });

  it.each([
    ['a stuck walk', 'the slot where the gap ends', 1n, 'treasury_walk_stuck'],
    ['a pruned history', 'the next slot', 2n, 'treasury_history_pruned'],
  ])(
    'the walk reports %s when a node lists too little and its history begins in %s',
    async (_what, _from, oldest, event) => {
      world.chain.unshift(payment('s1', 100n));
      await world.runAll();
      for (const n of range(2, 60)) world.chain.unshift(payment(`s${n}`, 100n));
      await world.run();
      world.chain.splice(30, world.chain.length);
      world.state.oldestSlots = [oldest];
      for (let runs = 0; runs < 3; runs++) await world.run();
      expect(world.state.said.map((line) => line.event)).toEqual([event]);
    },
  );

  it('the walk reads new transactions until it has 20 unread gaps, and pauses before the next gap', async () => {
    let n = 0;
    const burst = async () => {
      for (let i = 0; i < 20; i++) world.chain.unshift(payment(`s${++n}`, 100n));
      await world.run();
    };
    const pauses = () => world.state.said.filter(({ event }) => event === 'treasury_walk_paused');
    world.state.shallow = true;
    for (let gaps = 1; gaps <= 20; gaps++) await burst();
    expect([world.taken.length, pauses()]).toEqual([400, []]);
    await burst();
    expect([world.taken.length, pauses()]).toEqual([
      400,
      [{ level: 'alarm', event: 'treasury_walk_paused', node: 'node-1', gaps: 20 }],
    ]);
    world.state.shallow = false;
    await world.runAll();
    expect(world.taken).toHaveLength(420);
  });

  it.each([
    ['', 0],
    [', although the clock was set back by a day', 86_400_000],
  ])(
    'the walk raises an alarm and continues after a node listed a slot that does not exist%s',
    async (_clock, back) => {
      world.state.now += back;
      for (const n of range(1, 30)) world.chain.unshift(payment(`s${n}`, 100n));
      await world.runAll();
      await inventTop();
      world.state.now -= back;
      for (let minute = 0; minute < 15; minute++) {
        world.state.now += 60_000;
        const n = 31 + minute;
        world.chain.unshift(payment(`s${n}`, 100n, { blockTime: Math.floor(world.state.now / 1_000) }));
        await world.run();
      }
      await world.runAll();
      expect(world.taken).toHaveLength(45);
      expect(world.state.said.filter(({ event }) => event === 'treasury_list_retreated')).toMatchObject([
        { level: 'alarm', node: 'node-1', head: '1000000000000000' },
      ]);
    },
  );

  it('the walk raises an alarm when it is behind for more than ten minutes after the clock was set back', async () => {
    for (const n of range(1, 500)) world.chain.unshift(payment(`s${n}`, 1n));
    await world.run();
    const alarms = () => world.state.said.filter(({ event }) => event === 'treasury_walk_behind').length;
    world.state.now += 601_000;
    await world.run();
    world.state.now -= 86_400_000;
    await world.run();
    expect([world.behind(), alarms()]).toEqual([world.state.now, 1]);
    world.state.now += 601_000;
    await world.run();
    expect(alarms()).toBe(2);
  });

  it('the walk over the treasury is not reported as behind in its first ten minutes', async () => {
    for (const n of range(1, 300)) world.chain.unshift(payment(`s${n}`, 7n));
    await world.run();
    world.state.now += 10 * 60_000;
    await world.run();
    expect(world.state.said).toEqual([]);
    world.state.now += 1;
    await world.run();
    await world.run();
    expect(world.state.said).toMatchObject([
      { level: 'alarm', event: 'treasury_walk_behind', node: 'node-1' },
    ]);
  });

  it('the walk reads the newest and the oldest gap in turn', async () => {
    for (const n of range(1, 100)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.run();
    for (const n of range(101, 200)) world.chain.unshift(payment(`s${n}`, 100n));
    const gaps: string[] = [];
    for (let runs = 0; runs < 5; runs++) {
      const { length } = world.taken;
      await world.run();
      const isNew = world.taken.slice(length).map(({ slot }) => slot > 100n);
      gaps.push(isNew.every(Boolean) ? 'newest' : isNew.some(Boolean) ? 'both' : 'oldest');
    }
    expect(gaps).toEqual(['newest', 'oldest', 'newest', 'oldest', 'newest']);
  });

  it.each([
    ['half of the reads of a run to the head and half to the gap', 1, 20, 20],
    ['the same share to each of two nodes', 2, 20, 20],
    ['at least one read to the head and one to the gap', 1, 1, 2],
  ])('the walk gives %s', async (_name, nodeCount, reads, read) => {
    const own = setUp(nodeCount);
    for (const n of range(1, 60)) own.chain.unshift(payment(`s${n}`, 100n));
    await own.run(reads);
    expect(own.taken).toHaveLength(read);
    for (let runs = 0; runs < 60; runs++) await own.run(reads);
    expect(own.taken).toHaveLength(60);
    expect(own.state.said).toEqual([]);
  });

  it('the walk retries a transaction for which no node responds, and reads the others', async () => {
    for (const n of range(1, 5)) world.chain.unshift(payment(`s${n}`, 100n));
    world.state.silent = 's3';
    await world.run();
    await world.run();
    expect(names(world.taken)).toEqual(['s1', 's2', 's4', 's5']);
    expect(world.state.said).toEqual([]);
  });

  it('the walk treats a list without its head as a lagging node for ten minutes, then moves its head back', async () => {
    for (const n of range(1, 5)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.runAll();
    await inventTop();
    await world.run();
    world.state.now += 10 * 60_000 - 1;
    await world.run();
    expect(retreats()).toBe(0);
    world.state.now += 1;
    await world.run();
    expect(retreats()).toBe(1);
  });

  it.each([
    ['reads again from the time of its head, although no request is that old', 0, 3],
    ['reads again from the oldest request if the clock was then set back by days', -3, 0],
  ])('after a node listed a slot that does not exist, the walk %s', async (_name, clockDays, sinceDays) => {
    const day = 86_400_000;
    world.state.now += 3 * day;
    for (const n of range(1, 5)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.runAll();
    await inventTop();
    world.state.now += clockDays * day;
    const blockTime = Math.floor(world.state.now / 1_000);
    for (const n of range(6, 9)) world.chain.unshift(payment(`s${n}`, 100n, { blockTime }));
    world.state.now += sinceDays * day;
    world.state.since = world.state.now;
    await world.run();
    world.state.now += 10 * 60_000;
    await world.runAll();
    expect(world.taken).toHaveLength(9);
  });

  it('the walk keeps the time of its head if it runs twice in one millisecond, and reads again from that time', async () => {
    for (const n of range(1, 5)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.runAll();
    await inventTop();
    await world.run();
    for (const n of range(6, 9)) world.chain.unshift(payment(`s${n}`, 100n));
    world.state.now += 3 * 86_400_000;
    world.state.since = world.state.now;
    await world.runAll();
    expect(world.taken).toHaveLength(9);
  });

  it.each([
    ['reads payments from a day and twelve minutes before the time of its head', 0, 6],
    ['omits a payment that is a second older', -1, 5],
  ])('if a node listed a slot that does not exist, the walk %s', async (_name, seconds, count) => {
    for (const n of range(1, 5)) world.chain.unshift(payment(`s${n}`, 100n));
    await world.runAll();
    await inventTop();
    world.chain.unshift(payment('s6', 100n, { blockTime: T0 - 600 - 86_520 + seconds }));
    await world.run();
    world.state.now += 10 * 60_000;
    await world.runAll();
    expect(world.taken).toHaveLength(count);
  });

  it('the walk finds each payment once while new payments arrive between its runs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 8 }),
        async (bursts) => {
          const fresh = setUp();
          let n = 0;
          for (const burst of bursts) {
            for (let i = 0; i < burst; i++) fresh.chain.unshift(payment(`s${++n}`, 100n));
            await fresh.run();
          }
          await fresh.runAll();
          expect(names(fresh.taken)).toEqual(fresh.chain.map(({ signature }) => signature).sort());
          expect(fresh.state.reads).toBe(n);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('a transaction that cannot be read', () => {
  it('an unreadable transaction does not block others, and is read when the nodes have it', async () => {
    world.chain.unshift(payment('s2', 100n), payment('s1', 100n));
    world.state.missing.add('s1');
    await world.runAll();
    expect(names(world.taken)).toEqual(['s2']);
    world.state.missing.clear();
    world.state.now += 2_000;
    await world.booking.retry(5);
    expect(names(world.taken)).toEqual(['s1', 's2']);
    expect(world.payments.unread('s1')).toBeUndefined();
  });

  it('a transaction of an unknown version raises one alarm and is kept for a release that reads it', async () => {
    for (const n of range(1, 30)) world.chain.unshift(payment(`s${n}`, 100n));
    world.state.unreadable = 's25';
    await world.runAll();
    expect(world.taken).toHaveLength(29);
    expect(world.state.said).toEqual([
      { level: 'alarm', event: 'payment_unbooked', signature: 's25', error: 'unreadable' },
    ]);
    world.state.unreadable = '';
    world.state.now += 3_600_000;
    await world.booking.retry(5);
    expect(world.taken).toHaveLength(30);
  });

  it('a transaction that cannot be recorded raises an alarm, and a confirm records it after the repair', async () => {
    world.chain.unshift(payment('s2', 100n), payment('s1', 100n));
    world.state.poison = 's1';
    await world.runAll();
    expect(names(world.taken)).toEqual(['s2']);
    expect(world.state.said).toMatchObject([{ level: 'alarm', event: 'payment_unbooked', signature: 's1' }]);
    await expect(world.confirm('s1')).rejects.toThrow('cannot be booked');
    world.state.poison = '';
    await world.confirm('s1');
    expect(names(world.taken)).toEqual(['s1', 's2']);
  });
});

describe('with a node whose list is wrong', () => {
  beforeEach(() => {
    world = setUp(2);
  });

  it('the walk finds a payment that one node hides', async () => {
    for (const n of range(1, 30)) world.chain.unshift(payment(`s${n}`, 100n));
    world.state.hidden.add('s7');
    await world.runAll();
    expect(world.taken).toHaveLength(30);
  });

  it('the walk reads the list of one node while the other node invents transactions without end', async () => {
    for (const n of range(1, 30)) world.chain.unshift(payment(`s${n}`, 100n));
    for (let round = 0; round < 120; round++) {
      world.state.invented = range(0, 29).map((n) => `fake ${round} ${n}`);
      await world.run();
    }
    expect(world.taken).toHaveLength(30);
    expect(world.payments.countUnread('node-1')).toBeLessThanOrEqual(1_000);
    expect(world.payments.countUnread('node-2')).toBe(0);
  });
});

describe('what is a payment', () => {
  it('a successful transaction is recorded although nodes first showed a failure of the same bytes', async () => {
    world.chain.unshift(payment('s1', 100n));
    world.state.noop = 's1';
    await world.runAll();
    expect(world.taken).toEqual([]);
    world.state.noop = '';
    world.state.now += 3_600_000;
    await world.booking.retry(5);
    expect(names(world.taken)).toEqual(['s1']);
  });

  it('a confirm records a payment that matched no request when the walk first read it', async () => {
    world.chain.unshift(payment('s1', 7n));
    await world.runAll();
    expect(world.payments.purposeOf('s1')).toBeNull();
    world.chain[0] = payment('s1', 100n);
    for (let calls = 0; calls < 2; calls++) await world.confirm('s1');
    expect(world.payments.purposeOf('s1')).toBe('token:s1');
    expect(world.taken).toHaveLength(1);
  });
});

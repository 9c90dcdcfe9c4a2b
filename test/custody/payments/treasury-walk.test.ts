/** A scene is a script such as `pay 30, all, lag 5, run`: what happens to the chain, the nodes and the clock. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lamportsChange } from '../../../src/chain/solana/transaction.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { Agenda } from '../../../src/custody/kernel/agenda.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { quorumOf } from '../../../src/custody/nodes/quorum.ts';
import type { TreasuryNode } from '../../../src/custody/payments/context.ts';
import { TreasuryStore } from '../../../src/custody/payments/treasury-store.ts';
import { TreasuryWalk } from '../../../src/custody/payments/treasury-walk.ts';
import { UnreadTransactions } from '../../../src/custody/payments/unread.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { chainTransaction } from '../../world/solana-shapes.ts';

const T0 = 1_800_000_000;
const UNITS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
function duration(text: string): number {
  const [, count = '', unit = ''] = /^(-?\d+)(d|h|m|s|ms)$/.exec(text) ?? [];
  return Number(count) * (UNITS[unit] ?? Number.NaN);
}

const transactionOf = (
  signature: string,
  slot: bigint,
  lamports: bigint,
  blockTime: number | null,
): ChainTransaction =>
  chainTransaction(signature, { payer: -lamports - 5_000n, treasury: lamports }, { slot, blockTime });

/** The chain, newest first, the nodes that list it, and a walk that books payments of exactly 100 lamports. */
function stageOf(nodeCount: number) {
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  const payments = new TreasuryStore(storage);
  const chain: ChainTransaction[] = [];
  const landed = new Map<string, ChainTransaction>();
  const [taken, said]: [string[], Record<string, unknown>[]] = [[], []];
  const world = {
    now: T0 * 1_000,
    since: T0 * 1_000,
    reads: 0,
    readMs: 0,
    listMs: 0,
    count: 0,
    share: 40 * nodeCount,
  };
  /** What is wrong with the lists: all lack the newest, the oldest or older pages; that of node 1 hides or invents entries. */
  const list = {
    lag: 0,
    keep: Number.POSITIVE_INFINITY,
    hidden: '',
    invented: [] as string[],
    top: 0n,
    pruned: [] as bigint[],
    isShallow: false,
    isEmpty: false,
    replaced: 0,
  };
  /** What is wrong with one transaction: no node has it, shows it or responds, it failed, or it cannot be booked. */
  const fault: Record<string, string> = {};
  const log = (line: Readonly<Record<string, unknown>>) => void said.push(line);
  const now = () => world.now;
  async function book(found: ChainTransaction): Promise<undefined> {
    if (found.signature === fault.poison) throw new Error('cannot be booked');
    const isPayment = lamportsChange(found, 'treasury') === 100n;
    if (!payments.hasRecord(found.signature, 'treasury') && isPayment) taken.push(found.signature);
    payments.record(
      { ...found, lamports: 0n, payee: 'treasury', payer: null },
      isPayment ? `token:${found.signature}` : null,
    );
  }
  const agenda = new Agenda(storage, now, log);
  const context = {
    agenda,
    storage,
    journal,
    treasury: payments,
    treasuryAddress: 'treasury',
    async transaction(signature: string) {
      world.reads++;
      world.now += world.readMs;
      if (signature === fault.silent) throw upstreamFailed('solana-rpc', 'timeout');
      if (signature === fault.unreadable) throw upstreamFailed('solana-rpc', 'rpc_-32015');
      if (signature === fault.missing) return null;
      const found = landed.get(signature);
      return found ? { ...found, failed: signature === fault.noop } : null;
    },
    now,
    log,
  };
  const unread = new UnreadTransactions(context, book);
  const nodes = Array.from(
    { length: nodeCount },
    (_, index): TreasuryNode => ({
      get id() {
        return `${index}-${list.replaced}`;
      },
      name: `node-${index + 1}`,
      async signaturesFor(address, { limit, before }) {
        expect(address).toBe('treasury');
        if (index === 0) world.now += world.listMs;
        if (list.isShallow && before !== undefined) throw upstreamFailed('solana-rpc', 'timeout');
        const honest = chain
          .slice(list.lag, list.keep)
          .filter(({ signature }) => index > 0 || signature !== list.hidden)
          .map(({ failed, ...rest }) => ({ ...rest, err: failed ? {} : null }));
        const top = list.top || (honest[0]?.slot ?? 0n);
        const fake = list.invented.map((signature) => ({ signature, slot: top, err: null, blockTime: T0 }));
        const all = list.isEmpty ? [] : index === 0 ? [...fake, ...honest] : honest;
        const from = all.findIndex(({ signature }) => signature === before) + 1;
        // A node without the transaction `before` lists nothing.
        if (before !== undefined && from === 0) return [];
        return all.slice(from, from + limit).filter(({ slot }) => slot >= (list.pruned[index] ?? 0n));
      },
      firstAvailableBlock: async () => list.pruned[index] ?? 0n,
    }),
  );
  const open = () => new TreasuryWalk({ ...context, nodes }, unread);
  let walk = open();
  let isComplete = false;
  const run = async () => {
    const complete = await walk.run(world.since, { reads: world.share });
    isComplete = complete.length >= quorumOf(nodeCount);
  };
  const behind = () =>
    nodes.map(({ name }) => payments.unreadFrom(name)).find((time) => time !== undefined) ?? null;
  function land(transaction: ChainTransaction): void {
    chain.unshift(transaction);
    landed.set(transaction.signature, transaction);
  }
  const add = (lamports: bigint, blockTime: number | null = Math.floor(world.now / 1_000)) =>
    land(transactionOf(`s${++world.count}`, BigInt(world.count), lamports, blockTime));
  const times = (count: string, what: () => unknown) => Array.from({ length: Number(count) }, what);
  const found = (signature: string) => {
    const transaction = chain.find((each) => each.signature === signature);
    if (!transaction) throw new Error(`no ${signature}`);
    return transaction;
  };
  const verbs: Record<string, (first: string, second: string) => unknown> = {
    pay: (count) => times(count, () => add(100n)),
    dust: (count) => times(count, () => add(1n)),
    none: (count) => times(count, () => add(0n)),
    old: (age) => add(100n, age === 'unknown' ? null : Math.floor(world.now / 1_000) - duration(age) / 1_000),
    at: (slot, lamports) => land(transactionOf(`s${++world.count}`, BigInt(slot), BigInt(lamports), T0)),
    fails: (signature) => {
      chain[chain.indexOf(found(signature))] = { ...found(signature), failed: true };
      landed.delete(signature);
    },
    again: (signature, slot) => land({ ...found(signature), slot: BigInt(slot), failed: false }),
    run: async (count = '1') => {
      for (let runs = 0; runs < Number(count); runs++) await run();
    },
    async all() {
      for (let runs = 0, reads = -1; runs < 1_000 && (reads !== world.reads || behind() !== null); runs++) {
        reads = world.reads;
        await run();
      }
      // The next list shows that all of it has been read.
      await run();
    },
    tick: (time) => {
      world.now += duration(time);
    },
    since: (time) => {
      world.since = world.now + duration(time);
    },
    /** The time that a read takes. */
    slow: (time) => {
      world.readMs = duration(time);
    },
    share: (reads) => {
      world.share = Number(reads);
    },
    lag: (count) => {
      list.lag = Number(count);
    },
    keep: (count) => {
      list.keep = Number(count);
    },
    hide: (signature) => {
      list.hidden = signature;
    },
    prune: (slot, count) => {
      list.pruned = Array<bigint>(Number(count)).fill(BigInt(slot));
    },
    shallow: (on) => {
      list.isShallow = on === 'on';
    },
    empty: (on) => {
      list.isEmpty = on === 'on';
    },
    restart: () => {
      walk = open();
    },
    /** Each URL becomes that of another node. */
    replace: () => {
      list.replaced++;
      walk = open();
    },
    invent: (signature, slot) => {
      Object.assign(list, { invented: [signature], top: BigInt(slot) });
    },
    async flood(rounds, count = '30') {
      for (let round = 0; round < Number(rounds); round++) {
        list.invented = Array.from({ length: Number(count) }, (_, n) => `fake ${world.now} ${round} ${n}`);
        await run();
      }
    },
    calm: () => {
      Object.assign(list, { invented: [], top: 0n });
    },
    fault: (kind, signature) => {
      fault[kind] = signature;
    },
    confirm: (signature) => book(found(signature)),
    retry: () => unread.readAgain(payments.dueUnread(world.now, 5)),
  };
  async function play(script: string): Promise<void> {
    for (const step of script.split(', ')) {
      const [verb = '', first, second] = step.split(' ');
      await verbs[verb]?.(first as string, second as string);
    }
  }
  return {
    taken,
    said,
    payments,
    world,
    play,
    behind,
    isComplete: () => isComplete,
    /** `3 of 4`: payments that were booked, and transactions; `behind` and `incomplete` if so; then the alarms. */
    end: () =>
      [
        `${taken.length} of ${new Set(chain.map(({ signature }) => signature)).size}`,
        ...(behind() === null ? [] : ['behind']),
        ...(isComplete ? [] : ['incomplete']),
        ...said.map(({ event, node }) => (node ? `${event} ${node}` : event)),
      ].join(', '),
  };
}

const SCENES = `
  a confirm call records a transaction during a long list         | 1 | pay 190, run, confirm s150, pay 1, confirm s191, all | 191 of 191
  a payment lies below 2,100 transfers of dust                    | 1 | pay 1, all, pay 1, dust 2100, run, pay 1, all | 3 of 2103
  a payment lies below 11,000 transactions, more than a run lists | 2 | pay 2, all, pay 1, none 11000, share 9000, run, run, run, all | 3 of 11003
  the instance restarts while much is queued                      | 1 | pay 100, run, restart, all | 100 of 100
  a restart interrupts a list of more than a run                  | 1 | pay 1, all, pay 1, none 11000, share 9000, run, restart, run, run, all | 2 of 11002
  a payment is in the slot of the newest known transaction        | 1 | pay 1, all, at 1 100, all | 2 of 2
  the bytes of a failed transaction land later                    | 1 | at 10 7, fails s1, all, at 20 100, again s1 30, all | 1 of 2
  no transaction is new for two hours                             | 1 | pay 1, all, tick 1h, run, tick 1h, run | 1 of 1
  a payment is newer than a known one but has an older block time | 1 | pay 1, all, old 1h, all | 2 of 2
  a first payment is as old as a clock that is a day ahead allows | 1 | old 86520s, all | 1 of 1
  a first payment is a second older                               | 1 | old 86521s, all | 0 of 1
  a first payment is a millisecond older                          | 1 | tick 1ms, since 0ms, tick -1ms, old 86520s, all | 0 of 1
  a first payment has no block time                               | 1 | old unknown, all | 1 of 1
  the history ends with a full page                               | 1 | pay 1000, all | 1000 of 1000
  the history ends one transaction after a page                   | 1 | pay 1001, all | 1001 of 1001
  a node lacks the rest of its first list                         | 1 | pay 1500, keep 1000, run, keep 9999, all | 1500 of 1500
  a node lags                                                     | 1 | pay 30, all, lag 5, run | 30 of 30, incomplete
  a node that lagged is back                                      | 1 | pay 30, all, lag 5, pay 1, run, lag 0, all | 31 of 31
  a node lists nothing, for ten minutes                           | 1 | pay 30, all, empty on, tick 10m, run | 30 of 30, incomplete
  a node lists nothing of its new treasury                        | 1 | run | 0 of 0
  the only node has pruned entries above the known one            | 1 | pay 1, all, pay 59, prune 40 1, all | 22 of 60, incomplete, treasury_history_pruned node-1
  each of two nodes has pruned entries above the known one        | 2 | pay 1, all, pay 59, prune 40 2, all | 22 of 60, incomplete, treasury_history_pruned node-1, treasury_history_pruned node-2
  one of two nodes has pruned entries above the known one         | 2 | pay 1, all, pay 59, prune 40 1, all | 60 of 60, incomplete, treasury_history_pruned node-1
  two of three nodes have pruned entries above the known one      | 3 | pay 1, all, pay 59, prune 40 2, all | 60 of 60, incomplete, treasury_history_pruned node-1, treasury_history_pruned node-2
  a node that has pruned what the others keep continues above it  | 3 | pay 1, all, pay 59, prune 40 1, all, tick 2h, run | 60 of 60, treasury_history_pruned node-1
  one of three nodes has pruned entries above the known one       | 3 | pay 1, all, pay 59, prune 40 1, all | 60 of 60, treasury_history_pruned node-1
  a node that had pruned entries is replaced                      | 1 | pay 1, all, pay 59, prune 40 1, run 9, prune 0 0, all | 60 of 60, treasury_history_pruned node-1
  a node has pruned exactly up to the known entry                 | 1 | pay 1, all, pay 59, keep 30, prune 2 1, all | 31 of 60, incomplete, treasury_history_pruned node-1
  a node lists too little even if its history begins there        | 1 | pay 1, all, pay 59, keep 30, prune 1 1, all | 31 of 60, incomplete, treasury_walk_stuck node-1
  a node lists too little, for a time                             | 1 | pay 1, all, pay 59, keep 30, run 3, keep 9999, all | 60 of 60, treasury_walk_stuck node-1
  a node lists a slot that does not exist, once                   | 1 | pay 30, all, invent x9 1000000000000000, run, calm, pay 5, all | 35 of 35
  a node lists a known transaction in a slot that does not exist  | 1 | pay 30, all, invent s30 1000000000000000, run, calm, pay 5, all | 35 of 35
  a node invents the first transaction, below all others          | 1 | invent x9 5, run, calm, at 10 100, at 11 100, all | 2 of 2
  a node invents a page once while older pages time out           | 2 | pay 1, all, pay 30, shallow on, flood 1, shallow off, calm, tick 1d, pay 1, run 5, tick 1d, pay 1, run 5 | 33 of 33
  a node invents the top of a list of more than a run             | 2 | pay 1, all, pay 1, none 11000, share 9000, flood 1, calm, run 4, all | 2 of 11002
  a node invents transactions without end                         | 2 | pay 30, flood 120, calm, all | 30 of 30, payments_unread_limit node-1
  a node hides a payment                                          | 2 | pay 30, hide s7, all | 30 of 30
  a node that hid a payment is replaced by another one            | 1 | pay 30, hide s7, all, hide none, replace, all | 30 of 30
  much is queued for ten minutes                                  | 1 | pay 300, run, tick 10m, run | 80 of 300, behind
  much is queued for longer than ten minutes                      | 1 | pay 300, run, tick 10m, tick 1ms, run, run | 120 of 300, behind, treasury_walk_behind node-1
  much is queued even if the clock was set back                   | 1 | pay 500, run, tick -1d, run, tick 10m, run, tick 1ms, run | 160 of 500, behind, treasury_walk_behind node-1
  a run may read little                                           | 2 | pay 60, share 1, run | 4 of 60, behind
  a run may read more                                             | 2 | pay 60, share 8, run | 8 of 60, behind
  a read takes a second                                           | 1 | pay 9, slow 1s, run | 3 of 9, behind
  a read takes a millisecond more than a third of two seconds     | 1 | pay 9, slow 667ms, run | 3 of 9, behind
  the first read of a run fails                                   | 1 | pay 9, fault silent s9, run | 0 of 9, behind, work_failed
  a list is longer than a run reads                               | 1 | pay 1, all, none 10000, share 1, run | 1 of 10001, behind, incomplete
  no node responds to a request for one transaction               | 1 | pay 5, fault silent s3, run, run | 4 of 5, behind, work_failed
  no node has one transaction, for a time                         | 1 | pay 2, fault missing s1, all, fault missing none, tick 2s, retry | 2 of 2
  one transaction has an unknown version, for a time              | 1 | pay 30, fault unreadable s25, all, fault unreadable none, tick 1h, retry | 30 of 30, payment_unbooked
  one transaction cannot be recorded until a confirm call         | 1 | pay 2, fault poison s1, all, fault poison none, confirm s1 | 2 of 2, work_failed
  nodes first show a failure of the same bytes                    | 1 | pay 1, fault noop s1, all, fault noop none, tick 1h, retry | 1 of 1
`;
const scenes = SCENES.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));

it.each(scenes)('the walk over the treasury skips nothing when %s', async (_title, count, script, end) => {
  const stage = stageOf(Number(count));
  await stage.play(script ?? '');
  expect(stage.end()).toBe(end);
});

it('the newest and the oldest queued transactions are read first', async () => {
  const stage = stageOf(1);
  await stage.play('pay 100, share 4, run');
  expect(stage.taken).toEqual(['s100', 's1', 's99', 's2']);
});

it('the walk has read payments up to the block time of the first queued transaction, and no further', async () => {
  const stage = stageOf(1);
  await stage.play('pay 1, all, tick 1h, pay 60, tick 1h, pay 60, run');
  expect(stage.behind()).toBe(T0 * 1_000 + 3_600_000);
  await stage.play('all');
  expect(stage.behind()).toBeNull();
});

it('one run waits for one page of a slow node, and later runs read the rest', async () => {
  const stage = stageOf(2);
  await stage.play('pay 1, all, pay 3000');
  stage.world.listMs = 7_900;
  const began = stage.world.now;
  await stage.play('run');
  expect(stage.world.now - began).toBe(7_900);
  await stage.play('all');
  expect([stage.taken.length, stage.behind()]).toEqual([3_001, null]);
});

it('the walk records each payment once, whatever the nodes do in between', async () => {
  const step = fc.oneof(
    fc.integer({ min: 1, max: 90 }).map((count) => `pay ${count}`),
    fc.integer({ min: 1, max: 40 }).map((count) => `lag ${count}, run, lag 0`),
    fc.integer({ min: 1, max: 40 }).map((count) => `keep ${count}, run, keep 9999`),
    fc.integer({ min: 1, max: 300 }).map((slot) => `invent x${slot} ${slot}, run, calm`),
    fc.integer({ min: 1, max: 9 }).map((age) => `hide s${age}, run, hide none`),
    fc.constantFrom('run', 'restart', 'shallow on, flood 1, shallow off, calm', 'empty on, run, empty off'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const stage = stageOf(2);
      await stage.play(`pay 1, all, ${steps.join(', ')}, all`);
      expect(new Set(stage.taken).size).toBe(stage.world.count);
      expect([stage.taken.length, stage.behind(), stage.isComplete()]).toEqual([
        stage.world.count,
        null,
        true,
      ]);
    }),
    { numRuns: 50 },
  );
});

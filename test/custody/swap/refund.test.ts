import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BridgeReport } from '../../../src/bridges/route.ts';
import { lamports } from '../../../src/core/amount.ts';
import { HOUR_MS } from '../../../src/core/durations.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { code } from '../../../src/custody/kernel/reason.ts';
import type { HistoryNode } from '../../../src/custody/nodes/history.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { RESERVE } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { credit, type FakeSwapPorts } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { NOW, SOL, settling } from '../../kit/sample-operations.ts';
import { scenes } from '../../kit/scenes.ts';
import { settleSwap } from './settle-swap.ts';

const pending = {
  settlement: expect.objectContaining({ state: 'pending', detail: 'refunding' }),
  once: [],
};

/** Lamports of cost that the sample swap has agreed. */
const AGREED = settling().cost;

const refunded = (amount: bigint | null): BridgeReport => ({
  state: 'refunded',
  amount: amount === null ? null : lamports(amount),
});
/** The settlement by this credit, and whether it is the whole amount up to the cost that a swap may have. */
const found = (signature: string, change: bigint, arrived: boolean) => ({
  settlement: expect.objectContaining({
    state: 'incomplete',
    reason: 'refunded',
    arrived,
    outcome: { refundSignature: signature, refundLamports: change.toString() },
  }),
  once: [`payment:${signature}`],
});

/**
 * A swap of 1,000,000,000 lamports. The columns are the sum, fee and transactions that the bridge reports, the hours since
 * the credits, and the credits to our account, oldest first. `refund` is the one that is found: whole, or a part that
 * leaves the swap unsettled; else the search goes on.
 */
const SCENES = scenes(`
  a credit of the announced sum is the refund              | 990000000               | 1   | other 5, refund 990000000, later 7           | whole
  a sum that is 98 percent of the amount is whole          | 980000000               | 1   | refund 980000000                             | whole
  a sum below 98 percent leaves the swap unsettled         | 979999999               | 1   | refund 979999999                             | part
  a sum of a few lamports leaves the swap unsettled        | 100                     | 1   | refund 100                                   | part
  a transaction of an unknown version is skipped           | 990000000               | 1   | other 5 unreadable, refund 990000000         | whole
  2,500 transactions of dust hide no refund                | 990000000               | 1   | refund 990000000, dust 1 x2500               | whole
  nothing has arrived                                      | 990000000               | 1   |                                              | waits
  a credit one lamport above the sum is not the refund     | 990000000               | 1   | other 990000001                              | waits
  a debit is not a refund                                  | 990000000               | 1   | other -990000000                             | waits
  a failed transaction is not a refund                     | 990000000               | 1   | other 990000000 failed                       | waits
  a failed transaction listed as a success is not a refund | 990000000               | 1   | other 990000000 failed listed                | waits
  a listed transaction that cannot be read is awaited      | 990000000               | 1   | other 990000000 hidden                       | waits
  another swap has used the credit                         | 990000000               | 1   | other 990000000 used                         | waits
  a credit before the swap is not a refund                 | 990000000               | 1   | other 990000000, signature-one -1000000000   | waits
  the fee of the transaction may be missing                | 990000000               | 1   | refund 989995000                             | whole
  almost one percent of the sum may be missing             | 990000000               | 1   | refund 980100001                             | whole
  one percent may not be missing                           | 990000000               | 1   | other 980100000                              | waits
  exactly the sum is preferred to a similar credit         | 990000000               | 1   | other 989000000, refund 990000000            | whole
  without a sum, other swaps match for an hour             | none                    | 0.9 | other 989000000                              | waits
  without a sum, a credit is found after an hour           | none                    | 1   | refund 989000000                             | whole
  without a sum, all of the amount is a refund             | none                    | 1   | refund 1000000000                            | whole
  without a sum, more than the amount is not a refund      | none                    | 1   | other 1000000001                             | waits
  without a sum, more than 90 percent is a refund          | none                    | 1   | refund 900000001                             | part
  without a sum, 90 percent is not a refund yet            | none                    | 1   | other 900000000                              | waits
  the default 0 is not a sum                               | 0                       | 1   | refund 990000000                             | whole
  the default 0 leaves a credit to others for an hour      | 0                       | 0.9 | other 990000000                              | waits
  a sum before the refund fee                              | 1000000000              | 0   | refund 999913310                             | whole
  a sum after the refund fee                               | 530000000               | 0   | refund 530000000                             | part
  a fee explains the shortfall after an hour               | none fee 470000000      | 1   | refund 530000000                             | part
  a fee explains no shortfall before that hour             | none fee 470000000      | 0.9 | other 530000000                              | waits
  a fee explains no more than itself                       | none fee 470000000      | 1   | other 529999999                              | waits
  a fee with the default 0 explains as much                | 0 fee 470000000         | 1   | refund 530000000                             | part
  a fee is deducted from a larger sum                      | 1000000000 fee 100000000 | 0  | refund 900000000                             | part
  a fee above the amount lets no dust pass                 | none fee 2000000000     | 600 | dust 1                                       | waits
  a credit of more than half is not a refund before six hours | none                    | 5.9 | other 530000000                              | waits
  a credit of more than half is a refund after six hours   | none                    | 6   | refund 530000000                             | part
  a credit of exactly half is a refund after six hours     | none                    | 6   | refund 500000000                             | part
  less than half is never a refund                         | none                    | 600 | other 499999999                              | waits
  the whole refund is preferred to parts                   | none                    | 7   | part 530000000, refund 990000000, more 530000001 | whole
  a named transaction needs its hour like any other        | none of other           | 0.9 | other 1000000000                             | waits
  a named transaction is the refund after its hour         | none of refund          | 1   | refund 1000000000                            | whole
  a named transaction below half is never the refund       | none of other           | 600 | other 499999999                              | waits
  a named transaction must have the announced sum          | 530000000 of other      | 1   | other 1000000000                             | waits
  another swap has used the named transaction              | none of other           | 1   | other 990000000 used                         | waits
  no quorum shows the named transaction                    | none of other           | 1   | other 990000000 hidden                       | waits
  the named transaction failed                             | none of other           | 1   | other 990000000 failed                       | waits
  the named transaction takes lamports                     | none of other           | 1   | other -3                                     | waits
  the named transaction returns more than was sent         | none of other           | 1   | other 1000000001                             | waits
  the named transaction lies before the swap               | none of other           | 1   | other 990000000 early                        | waits
`);

/** The checks of a swap until one of them is not continued without a pause, and the swap after it. */
async function continued(settle: ReturnType<typeof settleSwap>['settle']) {
  for (let op = settling(); ; ) {
    const answer = await settle(op);
    const { settlement } = answer;
    if (settlement.state !== 'pending') return { answer, op };
    op = { ...op, outcome: { ...op.outcome, ...settlement.progress } };
    if (!settlement.continues) return { answer, op };
  }
}

/** Adds a credit as its scene writes it, `name lamports [marks]`; returns the name that another swap has used. */
function bring(ports: FakeSwapPorts, text: string): string[] {
  const [name = '', change = '0', ...marks] = text.split(' ');
  const copies = Number(/^x(\d+)$/.exec(marks[0] ?? '')?.[1] ?? 1);
  for (let copy = 0; copy < copies; copy++)
    credit(ports, copies > 1 ? `${name}-${copy}` : name, BigInt(change), marks.includes('failed'));
  const alter = (other: Partial<ChainTransaction>): void => {
    const shown = ports.transactions.get(name);
    if (shown) ports.transactions.set(name, { ...shown, ...other });
  };
  if (marks.includes('listed')) Object.assign(ports.listed[0] ?? {}, { err: null });
  if (marks.includes('hidden')) ports.transactions.delete(name);
  if (marks.includes('early')) alter({ slot: 1n });
  const { transaction } = ports;
  if (marks.includes('unreadable'))
    ports.transaction = async (signature) => {
      if (signature === name) throw upstreamFailed('solana-rpc', 'rpc_-32015');
      return transaction(signature);
    };
  return marks.includes('used') ? [`payment:${name}`] : [];
}

it.each(SCENES)('finds the right refund of a swap: %s', async (_what, report, hours, credits, outcome) => {
  const [, sum = '', , fee, , named] = /^(\S+)( fee (\d+))?( of (\S+))?$/.exec(report) ?? [];
  const used: string[] = [];
  const { settle, ports } = settleSwap(
    {
      state: 'refunded',
      amount: sum === 'none' ? null : lamports(BigInt(sum)),
      ...(fee ? { fee: lamports(BigInt(fee)) } : {}),
      ...(named ? { signatures: named.split(',') } : {}),
    },
    used,
  );
  ports.now = () => NOW + Number(hours) * HOUR_MS;
  for (const text of credits.split(', ').filter((each) => each !== '')) used.push(...bring(ports, text));
  const change = BigInt(/refund (\d+)/.exec(credits)?.[1] ?? 0);
  expect((await continued(settle)).answer).toEqual(
    outcome === 'waits' ? pending : found('refund', change, outcome === 'whole'),
  );
});

it('only a free credit between half and all of the amount is ever the refund', async () => {
  const credits = fc.uniqueArray(fc.bigInt({ min: -SOL, max: (SOL * 11n) / 10n }), { maxLength: 8 });
  const sums = fc.option(fc.bigInt({ min: SOL / 2n, max: SOL }), { nil: null });
  await fc.assert(
    fc.asyncProperty(credits, sums, fc.nat(12), fc.nat(8), async (changes, sum, hours, usedUp) => {
      const free = changes.slice(usedUp);
      const used = changes.slice(0, usedUp).map((change) => `payment:${change}`);
      const { settle, ports } = settleSwap(refunded(sum), used);
      ports.now = () => NOW + hours * HOUR_MS;
      for (const change of changes) credit(ports, String(change), change);
      const { settlement, once } = await settle();
      const refunds = free.filter((change) => change * 100n > SOL * 49n && change <= SOL);
      if (settlement.state === 'pending') expect([once, free]).not.toEqual([[], [sum]]);
      else expect(refunds.map((change) => `payment:${change}`)).toEqual(expect.arrayContaining([...once]));
    }),
  );
});

it.each([
  ['the agreed cost when the bridge keeps less', 990_000_001n, AGREED],
  ['the agreed cost when the bridge keeps as much', 990_000_000n, AGREED],
  ['what the bridge keeps beyond the agreed cost', 989_999_999n, AGREED + 1n],
  ['what the bridge keeps, up to the cost of a swap', (SOL * 98n) / 100n, SOL / 50n],
])('a refund costs %s', async (_name, part, cost) => {
  const { settle, ports } = settleSwap(refunded(part));
  credit(ports, 'refund', part);
  expect((await settle()).settlement).toMatchObject({ arrived: true, cost });
});

it('refunds that are two percent short use up the daily cost limit, however cheap the quotes were', async () => {
  const w = createCustodianWorld();
  w.bridge.nextReport = () => refunded((2n * SOL * 98n) / 100n);
  for (const name of ['a', 'b', 'c']) {
    await w.custody.createSwap(keyed(name, { amountLamports: 2n * SOL }));
    land(w.chain);
    credit(w.swap, `refund-${name}`, (2n * SOL * 98n) / 100n);
    await w.pass(10 * 60_000);
    expect(w.journal.get(`swap:key-${name}`)).toMatchObject({ unsettled: 0n, cost: SOL / 25n });
    w.clock.now += 61 * 60_000;
  }
  expect(await w.custody.createSwap(keyed('d'))).toMatchObject({
    refusal: { code: 'SWAP_LIMIT_REACHED', details: { limit: 'cost_day' } },
  });
});

it('a refund of 100 lamports leaves the swap unsettled and listed for the operator until the rest arrives', async () => {
  const w = createCustodianWorld();
  w.bridge.nextReport = () => refunded(100n);
  for (const name of ['a', 'b']) {
    await w.custody.createSwap(keyed(name, { amountLamports: 2n * SOL }));
    land(w.chain);
  }
  credit(w.swap, 'one', 100n);
  credit(w.swap, 'two', 100n);
  await w.pass(10 * 60_000);
  expect(w.journal.get('swap:key-a')).toMatchObject({
    state: 'failed',
    reason: code('refunded'),
    unsettled: 2n * SOL,
  });
  w.clock.now += 90 * 60_000;
  expect(await w.custody.createSwap(keyed('c'))).toMatchObject({
    refusal: { code: 'SWAP_LIMIT_REACHED', details: { limit: 'unsettled' } },
  });
  expect((await w.custody.report()).heldOperations).toBe(2);
  expect((await w.custody.operatorView()).open).toMatchObject([
    { id: 'swap:key-a', awaitsOperator: true },
    { id: 'swap:key-b', awaitsOperator: true },
  ]);
  w.bridge.nextReport = () => refunded(2n * SOL - 5_000n);
  credit(w.swap, 'rest', 2n * SOL - 5_000n);
  w.clock.now += 3_600_000;
  await w.pass(10 * 60_000);
  expect((await w.custody.report()).heldOperations).toBe(1);
});

it('finds a refund behind any number of other transactions by reading a few in each check', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  for (let at = 0; at < 140; at++) credit(ports, `dust-${at}`, 1n);
  credit(ports, 'refund', 990_000_000n);
  for (let at = 0; at < 60; at++) credit(ports, `more-${at}`, 1n);
  const read: string[] = [];
  const { transaction } = ports;
  ports.transaction = (signature) => {
    read.push(signature);
    return transaction(signature);
  };
  const answers: unknown[] = [];
  let op = settling();
  for (let looks = 0; looks <= 10; looks++) {
    read.length = 0;
    const { settlement } = await settle(op);
    answers.push(settlement);
    if (settlement.state === 'pending')
      op = { ...op, looks, outcome: { ...op.outcome, ...settlement.progress } };
    expect(read.length).toBeLessThanOrEqual(50);
  }
  expect(answers).toContainEqual(found('refund', 990_000_000n, true).settlement);
});

/** Time passes alarm by alarm until the swap has ended. @returns milliseconds */
async function delay(w: CustodianWorld): Promise<number> {
  const from = w.clock.now;
  await w.passUntil(() => w.journal.get('swap:key-a')?.state === 'failed');
  expect(w.journal.get('swap:key-a')).toMatchObject({ reason: code('refunded'), unsettled: 0n });
  return w.clock.now - from;
}
async function sent() {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('a'));
  land(w.chain);
  w.bridge.nextReport = () => refunded(990_000_000n);
  return w;
}

it.each([
  ['before', 500, 0],
  ['after', 0, 500],
  ['before and after', 1_000, 1_000],
])('finds a refund within four minutes if dust arrives %s the refund', async (_name, before, after) => {
  const w = await sent();
  for (let at = 0; at < before; at++) credit(w.swap, `before-${at}`, 1n);
  credit(w.swap, 'refund', 990_000_000n);
  for (let at = 0; at < after; at++) credit(w.swap, `after-${at}`, 1n);
  expect(await delay(w)).toBeLessThan(240_000);
});

it('the first check reads a transaction that the bridge names, behind any number of others', async () => {
  const { settle, ports } = settleSwap({
    state: 'refunded',
    amount: lamports(990_000_000n),
    signatures: ['refund'],
  });
  credit(ports, 'refund', 990_000_000n);
  for (let at = 0; at < 500; at++) credit(ports, `dust-${at}`, 1n);
  expect(await settle()).toEqual(found('refund', 990_000_000n, true));
});

it('a refund that arrives after the search has reached its end is found by the next check', async () => {
  const w = await sent();
  for (let at = 0; at < 500; at++) credit(w.swap, `dust-${at}`, 1n);
  await w.pass(3_600_000);
  credit(w.swap, 'refund', 990_000_000n);
  expect(await delay(w)).toBeLessThan(61_000);
});

it('finds a refund that no quorum shows at first, even if 500 transactions came after it', async () => {
  const w = await sent();
  credit(w.swap, 'refund', 990_000_000n);
  for (let at = 0; at < 500; at++) credit(w.swap, `dust-${at}`, 1n);
  const { transactions } = w.swap;
  const shownAt = w.clock.now + 20_000;
  const get = transactions.get.bind(transactions);
  transactions.get = (signature) =>
    signature === 'refund' && w.clock.now < shownAt ? undefined : get(signature);
  const ms = await delay(w);
  expect(ms).toBeGreaterThanOrEqual(20_000);
  expect(ms).toBeLessThan(25_000);
});

/** A node whose list has the oldest entry `refund` below this number of other entries, which it may invent. */
const longList = (name: string, count: number): HistoryNode => ({
  id: name,
  name,
  firstAvailableBlock: async () => 0n,
  signatures: async ({ limit, before }) => {
    const from = Number(before?.split('-')[1] ?? -1) + 1;
    const entry = { slot: 960n, err: null, blockTime: 1 };
    return Array.from({ length: Math.min(limit, count + 1 - from) }, (_, at) => ({
      ...entry,
      signature: from + at === count ? 'refund' : `other-${from + at}`,
    }));
  },
});

it('after a node fails in one check, a later check continues at the same place in its list', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  for (let at = 0; at < 300; at++) credit(ports, `dust-${at}`, 1n);
  const { historyOf } = ports;
  let fails = false;
  ports.historyOf = (address) => {
    const { nodes, isAbsent } = historyOf(address);
    const [node] = nodes;
    if (!node) throw new Error('no node');
    const failing: HistoryNode = {
      ...node,
      id: 'failing',
      signatures: (page) => (fails ? Promise.reject(new Error('down')) : node.signatures(page)),
    };
    return { nodes: [node, failing], isAbsent };
  };
  const next = async (op: ReturnType<typeof settling>) => {
    const { settlement } = await settle(op);
    if (settlement.state !== 'pending') throw new Error(settlement.state);
    return { ...op, outcome: { ...op.outcome, ...settlement.progress } };
  };
  const placeOf = ({ outcome }: ReturnType<typeof settling>) =>
    (JSON.parse(String(outcome.refundSearch)) as Record<string, { cursor?: unknown }>).failing?.cursor;
  const first = await next(settling());
  fails = true;
  expect(placeOf(first)).toBeDefined();
  expect(placeOf(await next(first))).toEqual(placeOf(first));
});

it('an endless list of one of three nodes does not delay a refund, and is read on schedule once the other lists are read', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  const { historyOf } = ports;
  ports.historyOf = (address) => {
    const { nodes, isAbsent } = historyOf(address);
    const named = ['one', 'two'].flatMap((name) => nodes.map((node) => ({ ...node, name })));
    return { nodes: [...named, longList('three', Number.POSITIVE_INFINITY)], isAbsent };
  };
  for (let at = 0; at < 100; at++) credit(ports, `dust-${at}`, 1n);
  const { op } = await continued(settle);
  credit(ports, 'refund', 990_000_000n);
  expect((await settle(op)).settlement).toMatchObject({ state: 'incomplete', arrived: true });
});

it('finds a refund beside an unreadable transaction', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  const { transaction } = ports;
  ports.transaction = async (signature) => {
    if (signature === 'unread') throw new Error('rpc_-32602');
    return transaction(signature);
  };
  credit(ports, 'refund', 990_000_000n);
  credit(ports, 'unread', 1n);
  expect((await settle()).settlement).toMatchObject({ state: 'incomplete', arrived: true });
});

it('finds a refund behind 100,001 foreign transactions, in checks that continue without a pause', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  credit(ports, 'refund', 990_000_000n);
  const { isAbsent } = ports.historyOf(RESERVE);
  ports.historyOf = () => ({ nodes: [longList('one', 100_001)], isAbsent });
  expect((await continued(settle)).answer).toEqual(found('refund', 990_000_000n, true));
});

describe('a refund that the bridge does not report', () => {
  it.each([
    [6, 'settling'],
    [7, 'refunded'],
  ])('after %i hours of SUCCESS without a Bitcoin transaction, the swap is %s', async (hours, end) => {
    const { settle, ports } = settleSwap({ state: 'delivered', txids: ['a near hash'] });
    ports.now = () => NOW + hours * HOUR_MS;
    credit(ports, 'refund', 990_000_000n);
    expect((await settle()).settlement).toMatchObject(
      end === 'settling' ? { state: 'pending', detail: end } : { state: 'incomplete', reason: end },
    );
  });

  it('a refund is found if the bridge still reports FAILED', async () => {
    const w = createCustodianWorld();
    w.bridge.nextReport = () => ({ state: 'failed', reason: 'bridge_failed' });
    await w.custody.createSwap(keyed('a'));
    land(w.chain);
    await w.pass(10 * 60_000);
    expect(w.journal.get('swap:key-a')).toMatchObject({ reason: code('bridge_failed'), unsettled: SOL });
    credit(w.swap, 'refund', 990_000_000n);
    w.clock.now += 3 * HOUR_MS;
    await w.pass(10 * 60_000);
    expect(w.journal.get('swap:key-a')).toMatchObject({
      state: 'failed',
      reason: code('refunded'),
      unsettled: 0n,
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { BridgeReport } from '../../../src/bridges/route.ts';
import { lamports } from '../../../src/core/amount.ts';
import { HOUR_MS } from '../../../src/core/durations.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { code } from '../../../src/custody/kernel/reason.ts';
import { SolanaView } from '../../../src/custody/kernel/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import type { Fetch } from '../../../src/providers/http.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createSolanaRpc } from '../../../src/providers/solana-rpc.ts';
import { RESERVE } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { credit, type FakeSwapPorts } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { NOW, SOL, settling } from '../../kit/sample-operations.ts';
import { settleSwap } from './settle-swap.ts';

/** Longest memo of a transaction, which JSON makes six times as long. */
const MEMO = `[900] ${'\0'.repeat(900)}`;

/** Three nodes that show the transactions of these ports in JSON; the first adds one of its own for each. */
function nodesOver(ports: FakeSwapPorts) {
  let largest = 0;
  const listed = ports.listed.map((entry) => {
    const row = { ...entry, slot: Number(entry.slot) };
    return { signature: entry.signature, row, text: JSON.stringify({ ...row, memo: MEMO }) };
  });
  const invented = listed.flatMap((entry) => {
    const row = { ...entry.row, signature: `no ${entry.signature}` };
    return [{ signature: row.signature, row, text: JSON.stringify(row) }, entry];
  });
  const pageOf = (list: typeof listed, page: { limit: number; before?: string; until?: string }) => {
    const from = list.findIndex(({ signature }) => signature === page.before) + 1;
    const end = list.findIndex(({ signature }) => signature === page.until);
    const rows = list.slice(from, end < 0 ? undefined : end).slice(0, page.limit);
    return `[${rows.map(({ text }) => text).join()}]`;
  };
  const shown = (signature: string) => {
    const found = ports.transactions.get(signature);
    if (!found) return 'null';
    const { slot, blockTime, fee, accounts, signers, preLamports, postLamports } = found;
    return JSON.stringify({
      slot: Number(slot),
      blockTime,
      transaction: {
        signatures: [signature],
        message: { accountKeys: accounts, header: { numRequiredSignatures: signers.length } },
      },
      meta: {
        err: null,
        fee: Number(fee),
        preBalances: preLamports.map(Number),
        postBalances: postLamports.map(Number),
      },
    });
  };
  const fetch: Fetch = async (url, init) => {
    const { method, params } = JSON.parse(String(init?.body)) as {
      method: string;
      params: [string, { limit: number }];
    };
    const list = url.includes('liar') ? invented : listed;
    const result = method === 'getTransaction' ? shown(params[0]) : pageOf(list, params[1]);
    const text = `{"jsonrpc":"2.0","id":1,"result":${result}}`;
    largest = Math.max(largest, text.length);
    return new Response(text);
  };
  const urls = ['liar', 'two', 'three'].map((name) => `https://${name}.test`);
  return { nodes: createSolanaRpc({ urls, fetch }).nodes, largest: () => largest };
}

const pending = (detail: string) => ({
  settlement: expect.objectContaining({ state: 'pending', detail }),
  claims: [],
});

/** Lamports of cost that the sample swap has agreed. */
const AGREED = settling().cost;

const refunded = (amount: bigint | null): BridgeReport => ({
  state: 'refunded',
  amount: amount === null ? null : lamports(amount),
});
const found = (signature: string, change: bigint) => ({
  settlement: {
    state: 'incomplete',
    reason: 'refunded',
    arrived: change * 100n >= SOL * 98n,
    ...(change * 100n >= SOL * 98n ? { cost: AGREED > SOL - change ? AGREED : SOL - change } : {}),
    outcome: { refundSignature: signature, refundLamports: change.toString() },
  },
  claims: [`payment:${signature}`],
});

it('a refund is accepted when our own account shows the announced sum', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  credit(ports, 'thirdParty', 5n);
  credit(ports, 'refund', 990_000_000n);
  credit(ports, 'later', 7n);
  expect(await settle()).toEqual(found('refund', 990_000_000n));
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

it.each([100n, (SOL * 98n) / 100n - 1n])(
  'an announced refund of less than 98 percent of the amount leaves the swap unsettled: %i lamports',
  async (part) => {
    const { settle, ports } = settleSwap(refunded(part));
    credit(ports, 'refund', part);
    expect(await settle()).toMatchObject({ settlement: { reason: 'refunded', arrived: false } });
  },
);

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

it('finds a refund although a third party sent a transaction of a version that no node returns', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  credit(ports, 'newer', 5n);
  credit(ports, 'refund', 990_000_000n);
  const { transaction } = ports;
  ports.transaction = async (signature) => {
    if (signature === 'newer') throw upstreamFailed('solana-rpc', 'rpc_-32015');
    return transaction(signature);
  };
  expect(await settle()).toEqual(found('refund', 990_000_000n));
});

it('finds a refund although 2,500 transactions of dust came after it', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  credit(ports, 'refund', 990_000_000n);
  for (let at = 0; at < 2_500; at++) credit(ports, `dust-${at}`, 1n);
  expect(await settle()).toEqual(found('refund', 990_000_000n));
});

it.each([
  ['has not arrived', () => {}],
  ['is one lamport off', (ports: FakeSwapPorts) => credit(ports, 'x', 990_000_001n)],
  ['left instead of arriving', (ports: FakeSwapPorts) => credit(ports, 'x', -990_000_000n)],
  ['failed on chain', (ports: FakeSwapPorts) => credit(ports, 'x', 990_000_000n, true)],
  [
    'failed on chain although a list shows a success',
    (ports: FakeSwapPorts) => {
      credit(ports, 'x', 990_000_000n, true);
      ports.listed.splice(0, 1, { signature: 'x', slot: 960n, err: null, blockTime: 1 });
    },
  ],
  [
    'is listed but cannot be read yet',
    (ports: FakeSwapPorts) => {
      credit(ports, 'x', 990_000_000n);
      ports.transactions.clear();
    },
  ],
])('a swap keeps waiting for its refund if the refund %s', async (_name, arrange) => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  arrange(ports);
  expect(await settle()).toEqual(pending('refunding'));
});

it('a swap waits when another swap has already consumed its refund', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n), ['payment:refund']);
  credit(ports, 'refund', 990_000_000n);
  expect(await settle()).toEqual(pending('refunding'));
});

it('a refund from before the swap is not accepted', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  credit(ports, 'old', 990_000_000n);
  credit(ports, 'signature-one', -SOL);
  expect(await settle()).toEqual(pending('refunding'));
});

it.each([
  [990_000_000n - 5_000n, true],
  [990_000_000n - 9_899_999n, true],
  [990_000_000n - 9_900_000n, false],
])('a refund may fall short of the announced sum by the fee of the bridge: %s', async (change, ok) => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  credit(ports, 'refund', change);
  expect(await settle()).toEqual(ok ? found('refund', change) : pending('refunding'));
});

it('a refund of exactly the announced sum is preferred to a similar one', async () => {
  const { settle, ports } = settleSwap(refunded(990_000_000n));
  credit(ports, 'of another swap', 989_000_000n);
  credit(ports, 'refund', 990_000_000n);
  expect(await settle()).toEqual(found('refund', 990_000_000n));
});

it('a refund without an announced sum is accepted after an hour, so that other swaps can match it first', async () => {
  const { settle, ports } = settleSwap(refunded(null));
  credit(ports, 'refund', 989_000_000n);
  ports.now = () => NOW + HOUR_MS - 1;
  expect(await settle()).toEqual(pending('refunding'));
  ports.now = () => NOW + HOUR_MS;
  expect(await settle()).toEqual(found('refund', 989_000_000n));
});

it.each([
  [SOL, true],
  [SOL + 1n, false],
  [(SOL * 9n) / 10n + 1n, true],
  [(SOL * 9n) / 10n, false],
])(
  'a refund without an announced sum must be above 90 percent of the amount and not above all of it: %s',
  async (change, ok) => {
    const { settle, ports } = settleSwap(refunded(null));
    credit(ports, 'refund', change);
    expect(await settle()).toEqual(ok ? found('refund', change) : pending('refunding'));
  },
);

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
  expect(answers).toContainEqual(found('refund', 990_000_000n).settlement);
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

it('finds a refund within three minutes behind 1,000 long memos while a node invents 1,000 transfers', async () => {
  const w = await sent();
  for (let at = 0; at < 1_000; at++) credit(w.swap, `before-${at}`, 1n);
  credit(w.swap, 'refund', 990_000_000n);
  for (let at = 0; at < 100; at++) credit(w.swap, `after-${at}`, 1n);
  const { nodes, largest } = nodesOver(w.swap);
  const view = new SolanaView({
    nodes,
    reserveAddress: RESERVE,
    now: () => w.clock.now,
    within,
    log: () => undefined,
  });
  Object.assign(w.swap, {
    historyOf: (address: string) => view.historyOf(address),
    transaction: (signature: string) => view.transaction(signature),
  });
  expect(await delay(w)).toBeLessThan(180_000);
  expect(largest()).toBeGreaterThan(2 * 1024 * 1024);
});

it('a refund that arrives after the search has reached its end is found by the next check', async () => {
  const w = await sent();
  for (let at = 0; at < 500; at++) credit(w.swap, `dust-${at}`, 1n);
  await w.pass(3_600_000);
  credit(w.swap, 'refund', 990_000_000n);
  expect(await delay(w)).toBeLessThan(61_000);
});

it('finds a refund that no quorum shows at first although 500 transactions came after it', async () => {
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

it.each([
  [0, true],
  [299, true],
  [300, false],
])(
  'the unfinished search for a refund is continued without a pause after %i quick checks: %s',
  async (refundChecks, continues) => {
    const { settle, ports } = settleSwap(refunded(990_000_000n));
    for (let at = 0; at < 60; at++) credit(ports, `invented-${at}`, 1n);
    ports.transaction = async () => null;
    expect(await settle(settling({ outcome: { refundChecks } }))).toMatchObject({
      settlement: { state: 'pending', continues },
    });
  },
);

/** Settles a swap of one SOL with this report, `hours` after its credits. */
function settleAfter(hours: number, report: Partial<Extract<BridgeReport, { state: 'refunded' }>> = {}) {
  const scene = settleSwap({ state: 'refunded', amount: null, ...report });
  scene.ports.now = () => NOW + hours * HOUR_MS;
  return scene;
}

describe('the four forms of an announced sum', () => {
  it.each<[string, bigint | null, bigint, number]>([
    ['the default 0', 0n, 990_000_000n, 1],
    ['no sum', null, 990_000_000n, 1],
    ['a sum before the refund fee', 1_000_000_000n, 999_913_310n, 0],
    ['the sum that returns', 530_000_000n, 530_000_000n, 0],
  ])('a refund that arrives is found with %s', async (_name, announced, arrives, hours) => {
    const amount = announced === null ? null : lamports(announced);
    const { settle, ports } = settleAfter(hours, { amount });
    credit(ports, 'refund', arrives);
    expect((await settle()).settlement).toMatchObject({ state: 'incomplete', reason: 'refunded' });
  });

  it('a credit is left to another swap for an hour if the announced sum is the default 0', async () => {
    const { settle, ports } = settleAfter(0.9, { amount: lamports(0n) });
    credit(ports, 'refund', 990_000_000n);
    expect((await settle()).settlement).toMatchObject({ state: 'pending', detail: 'refunding' });
  });
});

describe('a refund of which the bridge keeps a part, without an announced sum', () => {
  const part = 530_000_000n;

  it.each([null, lamports(0n)])(
    'is found after an hour if the stated fee explains it: sum %s',
    async (amount) => {
      const fee = lamports(SOL - part);
      for (const [hours, arrives, isFound] of [
        [0.9, part, false],
        [1, part, true],
        [1, part - 1n, false],
      ] as const) {
        const { settle, ports } = settleAfter(hours, { amount, fee });
        credit(ports, 'refund', arrives);
        expect(await settle()).toEqual(isFound ? found('refund', part) : pending('refunding'));
      }
    },
  );

  it('a stated fee below the announced sum is deducted from it', async () => {
    const { settle, ports } = settleAfter(0, { amount: lamports(SOL), fee: lamports(100_000_000n) });
    credit(ports, 'refund', 900_000_000n);
    expect(await settle()).toEqual(found('refund', 900_000_000n));
  });

  it.each([
    [5.9, part, false],
    [6, part, true],
    [6, SOL / 2n, true],
    [6, SOL / 2n - 1n, false],
    [600, SOL / 2n - 1n, false],
  ])('without a fee is found after six hours, if half returns: %s h, %s', async (hours, arrives, isFound) => {
    const { settle, ports } = settleAfter(hours);
    credit(ports, 'refund', arrives);
    expect(await settle()).toEqual(isFound ? found('refund', arrives) : pending('refunding'));
  });

  it('a fee that exceeds the amount does not let dust pass', async () => {
    const { settle, ports } = settleAfter(600, { fee: lamports(2n * SOL) });
    credit(ports, 'dust', 1n);
    expect(await settle()).toEqual(pending('refunding'));
  });

  it('the whole refund is preferred to a larger number of parts', async () => {
    const { settle, ports } = settleAfter(7);
    credit(ports, 'part', part);
    credit(ports, 'refund', 990_000_000n);
    credit(ports, 'another part', part + 1n);
    expect(await settle()).toEqual(found('refund', 990_000_000n));
  });
});

describe('a transaction that the bridge names', () => {
  it('is the refund at once, whatever it returns', async () => {
    const { settle, ports } = settleAfter(0, { signatures: ['signature-one', 'refund'] });
    credit(ports, 'whole', 990_000_000n);
    credit(ports, 'refund', 3n);
    expect(await settle()).toEqual(found('refund', 3n));
  });

  it.each<[string, (ports: FakeSwapPorts) => void, readonly string[]]>([
    ['another swap has consumed it', () => {}, ['payment:named']],
    ['no quorum shows it', ({ transactions }) => transactions.delete('named'), []],
    ['it failed', (ports) => credit(ports, 'named', 3n, true), []],
    ['it takes lamports', (ports) => credit(ports, 'named', -3n), []],
    ['it returns more than was sent', (ports) => credit(ports, 'named', SOL + 1n), []],
    ['it lies before the swap', (ports) => change(ports, { slot: 1n }), []],
    ['it also pays the deposit address', (ports) => deposits(ports, 1n), []],
    ['it only mentions the deposit address', (ports) => deposits(ports, 0n), []],
  ])('is no refund if %s', async (_name, arrange, taken) => {
    const { settle, ports } = settleSwap({ state: 'refunded', amount: null, signatures: ['named'] }, taken);
    credit(ports, 'named', 3n);
    arrange(ports);
    expect(await settle()).toEqual(pending('refunding'));
  });

  function change(ports: FakeSwapPorts, other: Partial<ChainTransaction>): void {
    const named = ports.transactions.get('named');
    if (named) ports.transactions.set('named', { ...named, ...other });
  }
  function deposits(ports: FakeSwapPorts, lamportsPaid: bigint): void {
    const named = ports.transactions.get('named');
    if (!named) return;
    change(ports, {
      accounts: [...named.accounts, String(settling().plan.depositAddress)],
      preLamports: [...named.preLamports, 10n],
      postLamports: [...named.postLamports, 10n + lamportsPaid],
    });
  }
});

describe('a refund that the bridge does not report', () => {
  it.each([
    [6, 'settling'],
    [7, 'refunded'],
  ])(
    'is found if SUCCESS names no transaction of Bitcoin for more than six hours: after %i',
    async (hours, end) => {
      const { settle, ports } = settleSwap({ state: 'delivered', txids: ['a near hash'] });
      ports.now = () => NOW + hours * HOUR_MS;
      credit(ports, 'refund', 990_000_000n);
      expect((await settle()).settlement).toMatchObject(
        end === 'settling' ? { state: 'pending', detail: end } : { state: 'incomplete', reason: end },
      );
    },
  );

  it('is found if the bridge still reports FAILED', async () => {
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

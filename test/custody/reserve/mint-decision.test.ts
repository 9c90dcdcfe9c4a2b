import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamports, sats } from '../../../src/core/amount.ts';
import { type Landing, type Operation, plannedOperation } from '../../../src/custody/kernel/operation.ts';
import { DailyMint, mintDueAt, previousMintsOf, utcDay } from '../../../src/custody/reserve/daily-mint.ts';
import {
  decideMint,
  type MintFacts,
  type PreviousMints,
} from '../../../src/custody/reserve/mint-decision.ts';
import {
  agreeAtDepth,
  agreeAtTip,
  type BitcoinIndex,
  type ReserveView,
  readReserveView,
  type SupplyView,
  type YoungTx,
} from '../../../src/custody/reserve/reserve-views.ts';

import { type BitcoinTx, createEsplora } from '../../../src/providers/esplora.ts';
import { createTools } from '../../kit/kernel.ts';
import { scenes } from '../../kit/scenes.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { RESERVE_BTC } from './bitcoin-model.ts';

const RESERVE = 'reserve';
const PUBLIC_KEY = 'So11111111111111111111111111111111111111112';
const PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const u53 = fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n });

const view = (change: Partial<Omit<ReserveView, 'tip'>> & { tip?: number } = {}): ReserveView => {
  const { tip = 900, ...rest } = change;
  return {
    source: 'one',
    confirmed: sats(1_000n),
    pendingSpent: sats(0n),
    young: [],
    ...rest,
    tip: { height: tip, hash: `hash ${tip}` },
  };
};
const young = (height: number, net: bigint): YoungTx => ({ height, net: sats(net) });
const supply = (change: Partial<SupplyView> = {}): SupplyView => ({
  source: 'rpc-1',
  slot: 100n,
  program: PROGRAM,
  mintAuthority: RESERVE,
  atoms: 400n,
  decimals: 0,
  ...change,
});
const NEVER: PreviousMints = { open: false, last: null };
const facts = (change: Partial<MintFacts> = {}): MintFacts => ({
  reserves: [view(), view({ source: 'two' })],
  supplies: [supply(), supply({ source: 'rpc-2' })],
  nodes: 2,
  indexes: 2,
  authority: RESERVE,
  earlier: NEVER,
  ...change,
});

/** A view as its scene writes it: `tip sats [net@height] [spends sats]`. */
function viewOf(text: string, at: number): ReserveView {
  const [tip = '0', confirmed = '0', ...words] = text.split(' ');
  return view({
    source: String(at),
    tip: Number(tip),
    confirmed: sats(BigInt(confirmed)),
    pendingSpent: sats(words[0] === 'spends' ? BigInt(words[1] ?? 0) : 0n),
    young: words.flatMap((word) => {
      const [net = '', height] = word.split('@');
      return height === undefined ? [] : [young(Number(height), BigInt(net))];
    }),
  });
}
const listed = (cell: string): string[] => cell.split(', ').filter((each) => each !== '');
/** Every order of a few views: none of the rules depends on it. */
const orders = <T>(all: readonly T[]): T[][] =>
  all.map((_, at) => [...all.slice(at), ...all.slice(0, at)]).concat([all.toReversed()]);

it.each(
  scenes(`
    a deposit with one confirmation is not counted  | 2 | 900 1000 300@900, 900 1000 300@900               | 700 at 900
    a deposit with two confirmations is not counted | 2 | 900 1000 300@899, 900 1000 300@899               | 700 at 900
    a deposit with three confirmations is counted   | 2 | 900 1000 300@898, 900 1000 300@898               | 1000 at 900
    a spend is counted at once                      | 2 | 900 1000 -300@900 200@899, 900 1000 -300@900 200@899 | 800 at 900
    a spend in the mempool of any index             | 2 | 900 1000, 900 1000 spends 1                      | spend_pending
    an index a block ahead adds no confirmation     | 2 | 900 1000 300@899, 901 1000 300@899               | 700 at 900
    a deposit that only the index ahead shows       | 2 | 900 1000, 902 1500 500@902                       | 1000 at 900
    tips two blocks apart                           | 2 | 900 1000, 902 1000                               | 1000 at 900
    tips three blocks apart                         | 2 | 900 1000, 903 1000                               | tips_apart
    indexes differ by one sat                       | 2 | 900 1000, 900 1001                               | sources_disagree
    one index responds, and two are configured      | 2 | 900 1000                                         | one_source
    one index is configured                         | 1 | 900 1000                                         | one_source
    no index responds                               | 3 |                                                  | one_source
    the third of three shows a higher balance       | 3 | 900 1000, 900 1000, 900 9000                     | 1000 at 900
    the third shows a lower balance                 | 3 | 900 1000, 900 1000, 900 1                        | 1000 at 900
    the third shows a young deposit                 | 3 | 900 1000, 900 1000, 900 1000 300@900             | 1000 at 900
    the third shows a spend in the mempool          | 3 | 900 1000, 900 1000, 900 1000 spends 1            | 1000 at 900
    the third has a tip far ahead                   | 3 | 900 1000, 900 1000, 9000 1000                    | 1000 at 900
    the third has a tip far behind                  | 3 | 900 1000, 900 1000, 2 1000                       | 1000 at 900
  `),
)('the reserve at a depth of three blocks: %s', (_what, configured, shown, expected) => {
  for (const views of orders(listed(shown).map(viewOf))) {
    const agreed = agreeAtDepth(views, 3, Number(configured));
    expect(agreed.ok ? `${agreed.sats} at ${agreed.tip.height}` : agreed.reason).toBe(expected);
  }
});

it.each(
  scenes(`
    the same tip and balance                             | 2 | 900 1000, 900 1000           | 1000
    another tip                                          | 2 | 900 1000, 901 1000           | tips_apart
    another balance                                      | 2 | 900 1000, 900 1              | sources_disagree
    the third of three shows another balance             | 3 | 900 1000, 900 1000, 900 9    | 1000
    the third shows another tip                          | 3 | 900 1000, 900 1000, 9000 1000 | 1000
    one index responds, and two are configured           | 2 | 900 1000                     | one_source
    one index is configured                              | 1 | 900 1000                     | 1000
    no index responds                                    | 1 |                              | one_source
  `),
)('the reserve at the tip, for a proof: %s', (_what, configured, shown, expected) => {
  for (const views of orders(listed(shown).map(viewOf))) {
    const agreed = agreeAtTip(views, Number(configured));
    expect(agreed.ok ? String(agreed.sats) : agreed.reason).toBe(expected);
  }
});

it('the sats that a mint counts never exceed the confirmed balance, with or without the transactions that are too young', () => {
  const txs = fc.array(
    fc.record({
      height: fc.integer({ min: 895, max: 900 }),
      net: fc.bigInt({ min: -1_000n, max: 1_000n }),
    }),
  );
  fc.assert(
    fc.property(txs, fc.integer({ min: 1, max: 6 }), (rows, depth) => {
      const seen = view({
        confirmed: sats(100_000n),
        young: rows.map(({ height, net }) => young(height, net)),
      });
      const agreed = agreeAtDepth([seen, seen], depth, 2);
      const unripe = rows.filter(({ height }) => 900 - height + 1 < depth);
      const before = 100_000n - unripe.reduce((sum, { net }) => sum + net, 0n);
      expect(agreed.ok && agreed.sats <= 100_000n && agreed.sats <= before).toBe(true);
    }),
  );
});

describe('the decision', () => {
  it('a mint brings the supply to exactly the reserve, never above it', () => {
    fc.assert(
      fc.property(u53, u53, fc.integer({ min: 0, max: 3 }), (reserve, atoms, decimals) => {
        const seen = supply({ atoms, decimals });
        const reserves = [view({ confirmed: sats(reserve) }), view({ confirmed: sats(reserve) })];
        const decision = decideMint(facts({ reserves, supplies: [seen, seen] }));
        const target = reserve * 10n ** BigInt(decimals);
        if (decision.verdict === 'mint') expect(atoms + decision.atoms).toBe(target);
        else expect(atoms >= target).toBe(true);
      }),
    );
  });

  /** A supply as its scene writes it: `atoms [member=value]`. */
  function supplyOf(text: string, at: number): SupplyView {
    const [atoms = '0', ...words] = text.split(' ');
    const change = Object.fromEntries(words.map((word) => word.split('=')));
    return supply({
      source: `rpc-${at}`,
      atoms: BigInt(atoms),
      decimals: Number(change.decimals ?? 0),
      slot: BigInt(change.slot ?? 100),
      ...(change.program ? { program: change.program } : {}),
      ...(change.authority ? { mintAuthority: change.authority === 'none' ? null : change.authority } : {}),
    });
  }

  it.each(
    scenes(`
      the difference of reserve and supply                | 2 | 400, 400                                   | mint 600
      the difference, scaled by the decimals              | 2 | 40001 decimals=2, 40001 decimals=2         | mint 59999
      no difference                                       | 2 | 1000, 1000                                 | none nothing_to_mint
      more tokens than sats                               | 2 | 1001, 1001                                 | none supply_above_reserve
      another mint authority                              | 2 | 400 authority=other, 400 authority=other   | none not_mint_authority
      no mint authority                                   | 2 | 400 authority=none, 400 authority=none     | none not_mint_authority
      more atoms than the chain can count                 | 2 | 0 decimals=18, 0 decimals=18               | none supply_overflow
      nodes differ in the atoms                           | 2 | 400, 401                                   | wait supplies_disagree
      nodes differ in the decimals                        | 2 | 400, 400 decimals=1                        | wait supplies_disagree
      nodes differ in the program                         | 2 | 400, 400 program=other                     | wait supplies_disagree
      nodes differ in the authority                       | 2 | 400, 400 authority=none                    | wait supplies_disagree
      the third of three shows more atoms                 | 3 | 400, 400, 999                              | mint 600
      the third shows fewer atoms                         | 3 | 400, 400, 0                                | mint 600
      the third shows other decimals                      | 3 | 400, 400, 400 decimals=8                   | mint 600
      the third shows another authority                   | 3 | 400, 400, 400 authority=none               | mint 600
      the third shows a slot far ahead                    | 3 | 400, 400, 0 slot=1000000000000             | mint 600
      one node responds, and two are configured           | 2 | 400                                        | wait one_node
      no node responds                                    | 2 |                                            | wait one_node
      one node is configured                              | 1 | 400                                        | mint 600
      after a mint in slot 100, all supplies are as new   | 2 | 400, 400                                   | mint 600       | after
      after a mint, the supply of one node is older       | 2 | 400, 400 slot=99                           | wait supply_outdated | after
      after a mint, the only supply is older              | 1 | 400 slot=99                                | wait supply_outdated | after
    `),
  )('the decision about a mint: %s', (_what, nodes, shown, expected, ...after) => {
    const earlier = after[0] === 'after' ? { open: false, last: { slot: 100n, day: '2026-01-01' } } : NEVER;
    for (const supplies of orders(listed(shown).map(supplyOf))) {
      const decision = decideMint(facts({ supplies, nodes: Number(nodes), earlier }));
      const { verdict } = decision;
      expect(`${verdict} ${verdict === 'mint' ? decision.atoms : decision.reason}`).toBe(expected);
    }
  });

  const wait = (reason: string) => ({ verdict: 'wait', reason });

  it('a mint is not decided while an earlier mint is in flight', () => {
    expect(decideMint(facts({ earlier: { open: true, last: null } }))).toEqual(wait('earlier_mint_open'));
  });

  it('a mint is not decided while the Bitcoin indexes do not agree', () => {
    expect(decideMint(facts({ reserves: [view()] }))).toEqual(wait('one_source'));
  });
});

const row = (day: string, change: Partial<Operation> = {}): Operation => ({
  ...plannedOperation({
    signer: PUBLIC_KEY,
    id: `absr:${day}`,
    kind: 'absr',
    amount: lamports(0n),
    reserved: lamports(0n),
    plan: {},
    now: 0,
  }),
  ...change,
});
const landed = (slot: bigint, blockTime: number | null): Landing => ({
  slot,
  blockTime,
  fee: lamports(0n),
  debit: lamports(0n),
});

describe('earlier mints', () => {
  it('finds the newest landed mint by its block time, and detects a mint whose outcome is still open', () => {
    const rows = [
      row('2026-01-01', { state: 'done', landing: landed(5n, Date.UTC(2026, 0, 1, 0, 6) / 1_000) }),
      row('2026-01-02', { state: 'done', landing: landed(9n, Date.UTC(2026, 0, 3, 0, 1) / 1_000) }),
      row('2026-01-03', { state: 'signed' }),
    ];
    expect(previousMintsOf(rows, 'absr:2026-01-04')).toEqual({
      open: true,
      last: { slot: 9n, day: '2026-01-03' },
    });
    expect(previousMintsOf(rows, 'absr:2026-01-03').open).toBe(false);
    expect(previousMintsOf([], 'absr:2026-01-03')).toEqual({ open: false, last: null });
  });

  it('a landed mint without a block time belongs to the day in its id', () => {
    const rows = [row('2026-01-02', { state: 'done', landing: landed(5n, null) })];
    expect(previousMintsOf(rows, 'absr:2026-01-04').last?.day).toBe('2026-01-02');
  });
});

describe('the day of a mint', () => {
  const NOON = Date.UTC(2026, 0, 2, 12);
  /** The result for the mint of 2026-01-02 at noon of that day, after a mint that landed on `lastDay`. */
  const preparedAfter = (lastDay: string) => {
    const tools = createTools(createSqliteStorage(), () => NOON);
    const blockTime = Date.parse(`${lastDay}T00:06:00Z`) / 1_000;
    tools.journal.insert(row('2026-01-01', { state: 'done', dueAt: null, landing: landed(1n, blockTime) }));
    const { kinds } = new DailyMint(tools, {
      mint: PUBLIC_KEY,
      treasury: PUBLIC_KEY,
      nodes: 2,
      indexes: 2,
      reserveViews: async () => [view(), view({ source: 'two' })],
      supplyViews: async () => [
        supply({ mintAuthority: tools.reserveAddress }),
        supply({ mintAuthority: tools.reserveAddress, source: 'rpc-2' }),
      ],
      readPrices: async () => [],
      latestBlockhash: async () => ({ blockhash: PUBLIC_KEY, slot: 100n, witnesses: [] }),
    });
    return kinds.absr.prepare(row('2026-01-02'));
  };

  it.each([
    ['minted_today', 'the same day', '2026-01-02'],
    // The clock was set back: the chain has seen the later day.
    ['day_over', 'a later day', '2026-01-03'],
  ])('refuses to prepare a mint with %s when the last mint landed on %s', async (reason, _when, lastDay) => {
    expect(await preparedAfter(lastDay)).toEqual({ ok: false, reason });
  });

  it('prepares the mint when the last mint landed on the day before', async () => {
    expect(await preparedAfter('2026-01-01')).toMatchObject({ ok: true });
  });
});

it('a mint is due from five past midnight UTC', () => {
  const noon = Date.UTC(2026, 1, 28, 12);
  expect(new Date(mintDueAt(noon)).toISOString()).toBe('2026-02-28T00:05:00.000Z');
  expect(utcDay(Date.UTC(2026, 1, 28, 23, 59, 59, 999))).toBe('2026-02-28');
});

const txid = (n: number): string => n.toString(16).padStart(64, '0');
const paying = (n: number, height: number | null, value = 10n): BitcoinTx => ({
  txid: txid(n),
  inputs: [],
  outputs: [{ address: RESERVE_BTC, value: sats(value) }],
  block: height === null ? null : { height, time: height },
});

/** An index over these confirmed transactions, newest first, at tip 900. */
function index(txs: BitcoinTx[], change: Partial<BitcoinIndex> = {}): BitcoinIndex & { pages: number } {
  const self = {
    pages: 0,
    name: 'one',
    tipHash: async () => 'hash',
    tipHeight: async () => 900,
    balance: async () => ({
      confirmed: sats(1_000n),
      confirmedTxs: txs.length,
      pendingDelta: sats(0n),
      pendingSpent: sats(0n),
      pendingTxs: 0,
    }),
    async chainTxs(_address: string, last?: string) {
      self.pages++;
      const from = last === undefined ? 0 : txs.findIndex((tx) => tx.txid === last) + 1;
      return txs.slice(from, from + 25);
    },
    ...change,
  };
  return self;
}
const read = (source: BitcoinIndex, depth = 3) => readReserveView(source, RESERVE_BTC, depth);

describe('one view of the reserve', () => {
  it('reads all transactions that are too young at the lower tip of another index, and no more', async () => {
    // At tip 898, the lowest that agrees with 900, three confirmations begin at height 896.
    const source = index([paying(1, 900), paying(2, 898), paying(3, 897), paying(4, 896), paying(5, 400)]);
    const { young, tip } = await read(source);
    expect(young.map(({ height }) => height)).toEqual([900, 898, 897]);
    expect(tip).toEqual({ height: 900, hash: 'hash' });
    expect(source.pages).toBe(1);
  });

  it('reads all pages of young transactions, and gives up after 50 pages', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => paying(n, 900));
    expect((await read(index([...many(130), paying(999, 1)]))).young).toHaveLength(130);
    await expect(read(index(many(1_300)))).rejects.toMatchObject({ details: { reason: 'too_many_young' } });
  });

  it('a view of the reserve is complete even if a third party fills the newest blocks with large transactions', {
    tags: ['deep'],
  }, async () => {
    const large = (n: number, height: number) => ({
      txid: n.toString(16).padStart(64, '0'),
      vin: [],
      vout: [
        { scriptpubkey_address: RESERVE_BTC, value: 300 },
        ...Array.from({ length: 3_200 }, (_, at) => ({
          scriptpubkey: `0014${'ab'.repeat(20)}`,
          scriptpubkey_asm: `OP_0 OP_PUSHBYTES_20 ${'ab'.repeat(20)}`,
          scriptpubkey_address: `bc1q${String(at).padStart(38, '0')}`,
          value: 294,
        })),
      ],
      status: { confirmed: true, block_height: height, block_time: 1_790_000_000 },
    });
    const list = [...Array.from({ length: 29 }, (_, n) => large(n, 900 - Math.floor(n / 10))), large(29, 1)];
    const fetch = async (url: string) => {
      const after = url.split('/txs/chain/')[1];
      const from = list.findIndex(({ txid }) => txid === after) + 1;
      return Response.json(list.slice(from, from + 25));
    };
    const { chainTxs } = createEsplora({ baseUrl: 'https://one.test', name: 'one', fetch });
    const { young } = await read(index([], { chainTxs }));
    expect(young).toEqual(
      list.slice(0, 29).map(({ status }) => ({ height: status.block_height, net: sats(300n) })),
    );
  });

  it('a view of the reserve is read again after a new block, and given up after several new blocks', async () => {
    const hashes = ['a', 'b', 'b', 'b'];
    const source = index([paying(1, 900), paying(2, 1)], { tipHash: async () => hashes.shift() ?? 'b' });
    expect((await read(source)).tip.hash).toBe('b');
    expect(source.pages).toBe(2);
    let tips = 0;
    const moving = index([], { tipHash: async () => `tip ${tips++}` });
    await expect(read(moving)).rejects.toMatchObject({ details: { reason: 'tip_moves' } });
  });

  it.each([
    ['unsorted_list', [paying(1, 898), paying(2, 900)]],
    ['unsorted_list', [paying(1, null)]],
  ])('refuses an unsorted list, because it can hide young transactions: %s', async (reason, txs) => {
    await expect(read(index(txs))).rejects.toMatchObject({ details: { reason } });
  });

  it('refuses a list with fewer transactions than the index reports for the address', async () => {
    const source = index([paying(1, 900), paying(2, 899)], {
      chainTxs: async (_, last) => (last ? [] : [paying(1, 900)]),
    });
    await expect(read(source)).rejects.toMatchObject({ details: { reason: 'incomplete_list' } });
    expect((await read(index([paying(1, 900)]))).young).toHaveLength(1);
  });

  it('a view of the reserve without a required depth reads no list of transactions', async () => {
    const source = index([paying(1, 900)]);
    expect((await read(source, 0)).young).toEqual([]);
    expect(source.pages).toBe(0);
  });
});

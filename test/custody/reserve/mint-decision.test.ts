import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamports, sats } from '../../../src/core/amount.ts';
import { type Landing, type Operation, plannedOperation } from '../../../src/custody/kernel/operation.ts';
import {
  DailyMint,
  decideMint,
  type MintFacts,
  mintDueAt,
  type PreviousMints,
  previousMintsOf,
  utcDay,
} from '../../../src/custody/reserve/daily-mint.ts';
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

describe('the reserve at depth', () => {
  const both = (...pair: [ReserveView, ReserveView]) => agreeAtDepth(pair, 3, 2);

  it.each([
    [900, 'one confirmation', 700n],
    [899, 'two', 700n],
    [898, 'three', 1_000n],
  ])(
    'an income at height %i has %s at tip 900, so the reserve at depth is %i of 1,000 sats',
    (height, _, counted) => {
      const seen = view({ young: [young(height, 300n)] });
      expect(both(seen, seen)).toMatchObject({ ok: true, sats: counted });
    },
  );

  it('a spend reduces the reserve at once, at any depth', () => {
    const seen = view({ young: [young(900, -300n), young(899, 200n)] });
    expect(both(seen, seen)).toMatchObject({ ok: true, sats: 800n });
  });

  it('a spend in the mempool of any index prevents an agreement on the reserve', () => {
    const pending = view({ pendingSpent: sats(1n) });
    expect(both(view(), pending)).toEqual({ ok: false, reason: 'spend_pending' });
    expect(both(pending, view())).toEqual({ ok: false, reason: 'spend_pending' });
  });

  it('depth is counted from the lower tip, so an index that is a block ahead adds no confirmation', () => {
    const behind = view({ tip: 900, young: [young(899, 300n)] });
    const ahead = view({ tip: 901, young: [young(899, 300n)] });
    expect(both(behind, ahead)).toMatchObject({ ok: true, sats: 700n, tip: { height: 900 } });
  });

  it('an income that only the index with the higher tip shows is not part of the reserve at depth', () => {
    const ahead = view({ tip: 902, confirmed: sats(1_500n), young: [young(902, 500n)] });
    expect(both(view({ tip: 900 }), ahead)).toMatchObject({ ok: true, sats: 1_000n });
  });

  it('indexes agree if their tips are two blocks apart, but not if they are three blocks apart', () => {
    expect(both(view({ tip: 900 }), view({ tip: 902 })).ok).toBe(true);
    expect(both(view({ tip: 900 }), view({ tip: 903 }))).toEqual({ ok: false, reason: 'tips_apart' });
  });

  it('the reserve at depth is not agreed if indexes differ by one sat, or if only one index responds', () => {
    const other = view({ confirmed: sats(1_001n) });
    expect(both(view(), other)).toEqual({ ok: false, reason: 'sources_disagree' });
    for (const configured of [1, 2, 3]) {
      expect(agreeAtDepth([view()], 3, configured)).toEqual({ ok: false, reason: 'one_source' });
      expect(agreeAtDepth([], 3, configured)).toEqual({ ok: false, reason: 'one_source' });
    }
  });

  it.each([
    ['a higher balance', { confirmed: sats(9_000n) }],
    ['a lower balance', { confirmed: sats(1n) }],
    ['a young income', { young: [young(900, 300n)] }],
    ['a spend in the mempool', { pendingSpent: sats(1n) }],
    ['a tip far ahead', { tip: 9_000 }],
    ['a tip far behind', { tip: 2 }],
  ])('two indexes agree on the reserve at depth although a third one shows %s', (_, lie) => {
    const views = [view(), view({ source: 'two' })];
    for (const all of [
      [...views, view(lie)],
      [view(lie), ...views],
    ])
      expect(agreeAtDepth(all, 3, 3)).toMatchObject({ ok: true, sats: 1_000n, tip: { height: 900 } });
  });

  it('the reserve at depth never exceeds the confirmed balance, with or without the transactions that are too young', () => {
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
});

describe('the reserve at the tip, for a proof', () => {
  it('the reserve at the tip is agreed only if indexes show the same tip and the same balance', () => {
    expect(agreeAtTip([view(), view()], 2)).toMatchObject({ ok: true, sats: 1_000n });
    expect(agreeAtTip([view(), view({ tip: 901 })], 2)).toEqual({ ok: false, reason: 'tips_apart' });
    expect(agreeAtTip([view(), view({ confirmed: sats(1n) })], 2)).toEqual({
      ok: false,
      reason: 'sources_disagree',
    });
  });

  it('two indexes agree on the reserve at the tip although a third one shows another balance or tip', () => {
    for (const lie of [view({ confirmed: sats(9n) }), view({ tip: 9_000 })])
      for (const all of [
        [view(), view(), lie],
        [lie, view(), view()],
      ])
        expect(agreeAtTip(all, 3)).toMatchObject({ ok: true, sats: 1_000n, tip: { height: 900 } });
  });

  it('one index is enough for the reserve at the tip only if no second index is configured', () => {
    expect(agreeAtTip([view()], 2)).toEqual({ ok: false, reason: 'one_source' });
    expect(agreeAtTip([view()], 1)).toMatchObject({ ok: true });
    expect(agreeAtTip([], 1)).toEqual({ ok: false, reason: 'one_source' });
  });
});

describe('the decision', () => {
  it('the amount to mint is the reserve minus the supply, scaled by the decimals', () => {
    expect(decideMint(facts())).toMatchObject({ verdict: 'mint', atoms: 600n });
    const scaled = supply({ atoms: 40_001n, decimals: 2 });
    expect(decideMint(facts({ supplies: [scaled, scaled] }))).toMatchObject({
      verdict: 'mint',
      atoms: 59_999n,
    });
  });

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

  it.each([
    ['nothing_to_mint', { atoms: 1_000n }],
    ['supply_above_reserve', { atoms: 1_001n }],
    ['not_mint_authority', { mintAuthority: 'somebody' }],
    ['not_mint_authority', { mintAuthority: null }],
    ['supply_overflow', { decimals: 18, atoms: 0n }],
  ] as const)('nothing is minted today: %s', (reason, change) => {
    const seen = supply(change);
    expect(decideMint(facts({ supplies: [seen, seen] }))).toMatchObject({ verdict: 'none', reason });
  });

  const wait = (reason: string) => ({ verdict: 'wait', reason });

  it.each([
    ['the atoms', { atoms: 401n }],
    ['the decimals', { decimals: 1 }],
    ['the program', { program: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' }],
    ['the authority', { mintAuthority: null }],
  ])('a mint is not decided while two nodes differ in %s', (_, change) => {
    expect(decideMint(facts({ supplies: [supply(), supply(change)] }))).toEqual(wait('supplies_disagree'));
  });

  it.each([
    ['more atoms', { atoms: 999n }],
    ['fewer atoms', { atoms: 0n }],
    ['other decimals', { decimals: 8 }],
    ['another authority', { mintAuthority: null }],
    ['a slot far ahead', { atoms: 0n, slot: 10n ** 12n }],
  ])('a mint is decided on the figures of two nodes when the third of three shows %s', (_, lie) => {
    const honest = [supply(), supply({ source: 'rpc-2' })];
    for (const supplies of [
      [...honest, supply(lie)],
      [supply(lie), ...honest],
    ])
      expect(decideMint(facts({ supplies, nodes: 3 }))).toMatchObject({ verdict: 'mint', atoms: 600n });
  });

  it('a mint is not decided with one node where two are configured', () => {
    expect(decideMint(facts({ supplies: [supply()] }))).toEqual(wait('one_node'));
    expect(decideMint(facts({ supplies: [] }))).toEqual(wait('one_node'));
    expect(decideMint(facts({ supplies: [supply()], nodes: 1 }))).toMatchObject({ verdict: 'mint' });
  });

  it('a mint is not decided on a supply that was read before the last mint', () => {
    const earlier: PreviousMints = { open: false, last: { slot: 100n, day: '2026-01-01' } };
    const late = supply({ slot: 99n, source: 'rpc-2' });
    expect(decideMint(facts({ earlier }))).toMatchObject({ verdict: 'mint' });
    expect(decideMint(facts({ earlier, supplies: [supply(), late] }))).toEqual(wait('supply_outdated'));
    expect(decideMint(facts({ earlier, supplies: [late], nodes: 1 }))).toEqual(wait('supply_outdated'));
  });

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
  it('finds the newest landed mint by its block time, and whether the outcome of a mint is still open', () => {
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
      reserveAddress: PUBLIC_KEY,
      mint: PUBLIC_KEY,
      treasury: PUBLIC_KEY,
      nodes: 2,
      indexes: 2,
      reserveViews: async () => [view(), view({ source: 'two' })],
      supplyViews: async () => [
        supply({ mintAuthority: PUBLIC_KEY }),
        supply({ mintAuthority: PUBLIC_KEY, source: 'rpc-2' }),
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

  it('prepares the mint when the last one landed on the day before', async () => {
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

  it('a view of the reserve is complete even if a third party fills the newest blocks with large transactions', async () => {
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

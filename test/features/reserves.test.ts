import { describe, expect, it } from 'vitest';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { sats } from '../../src/core/amount.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import { getReserves, type ReservesDeps } from '../../src/features/reserves/get-reserves.ts';
import { listBitcoin, listSolana } from '../../src/features/reserves/list-transactions.ts';
import { reservesRoutes } from '../../src/features/reserves/routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { encodeCursor } from '../../src/http/paging.ts';
import type { BitcoinTx } from '../../src/providers/esplora.ts';
import { RpcRefusal, type SignatureEntry } from '../../src/providers/solana-rpc.ts';
import { routerOver } from '../kit/router.ts';
import { eachRow } from '../kit/scenes.ts';
import { mintData, multisigData, tokenData } from '../kit/token-accounts.ts';
import { RPC_ERRORS, TRANSACTION_ERRORS } from '../world/solana-shapes.ts';

const ADDRESS = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const SOLANA = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const SYSTEM = '11111111111111111111111111111111';
const MINT = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const MULTISIG = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const TREASURY = 'BPFLoaderUpgradeab1e11111111111111111111111';
const WITNESS = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';

/** One isolate with its own memory; `kv` may be shared by several. */
function isolate(clock: { ms: number }, kv = new Map<string, string>()) {
  return new Cache({
    now: () => clock.ms,
    defer: () => undefined,
    kv: {
      get: (async (key: string) => JSON.parse(kv.get(key) ?? 'null')) as KVNamespace['get'],
      put: async (key: string, value: unknown) => void kv.set(key, String(value)),
    },
  });
}

const never = new Promise<never>(() => undefined);
const down = async (): Promise<never> => {
  throw upstreamFailed('esplora', 'unreachable');
};

type BitcoinSource = ReservesDeps['bitcoinSources'][number];
type SolanaSource = ReservesDeps['solanaSources'][number];

const says = (name: string, confirmed: bigint): BitcoinSource => ({
  name,
  balance: async () => ({ confirmed, pendingDelta: 5n }),
});
const node = (name: string, lamports: bigint, slot: bigint): SolanaSource => ({
  name,
  accounts: async () => ({ slot, accounts: [{ owner: SYSTEM, lamports, data: new Uint8Array() }] }),
});

type Shown = Awaited<ReturnType<SolanaSource['accounts']>>['accounts'][number];

/** A node with a mint of this authority, and the multisig of the reserve and the witness. @param more accounts */
function chainWith(authority: string | null, more: readonly (readonly [string, Shown])[] = []) {
  const asked: (readonly string[])[] = [];
  const held = new Map<string, Shown>([
    [SOLANA, { owner: SYSTEM, lamports: 9n, data: new Uint8Array() }],
    [MINT, { owner: TOKEN_PROGRAM, lamports: 1n, data: mintData({ authority }) }],
    [MULTISIG, { owner: TOKEN_PROGRAM, lamports: 1n, data: multisigData(SOLANA, WITNESS) }],
    ...more,
  ]);
  const node: SolanaSource = {
    name: 'rpc-1',
    async accounts(addresses) {
      asked.push(addresses);
      return { slot: 5n, accounts: addresses.map((each) => held.get(each) ?? null) };
    },
  };
  return { node, asked };
}

const depsOf = (p: Partial<ReservesDeps> = {}): ReservesDeps => ({
  cache: isolate({ ms: 0 }),
  reserve: { bitcoinAddress: ADDRESS, solanaAddress: SOLANA },
  bitcoinSources: [says('one', 700n), says('two', 700n)],
  solanaSources: [node('rpc-1', 9n, 100n), node('rpc-2', 9n, 90n)],
  absrMint: null,
  mintAuthority: null,
  treasuryAddress: null,
  sleep: async () => undefined,
  custody: { signingState: async () => ({ frozen: null, watchOnly: true }) },
  ...p,
});

describe('balances', () => {
  it('the reserve report has both chains, and no errors while both respond', async () => {
    const report = await getReserves(depsOf());
    expect(report).toMatchObject({
      bitcoin: { balanceSatoshis: '700', pendingSatoshis: '5' },
      solana: { balanceLamports: '9', slot: '100', source: 'rpc-1', sources: ['rpc-1', 'rpc-2'] },
    });
    expect(report).not.toHaveProperty('errors');
  });

  eachRow<[one: number | string, other: number, shown: string, source: string, agreed: boolean | null]>(`
    700  | 700 | "700" | one | true
    700  | 701 | "700" | one | false
    700  | 1   | "1"   | two | false
    down | 700 | "700" | two | null
    slow | 700 | "700" | two | null
  `)('the Bitcoin sources %s and %s show the balance %s of %s, agreed: %s', async (one, other, ...shown) => {
    const broken = { name: 'one', balance: one === 'down' ? down : () => never };
    const first = typeof one === 'number' ? says('one', BigInt(one)) : broken;
    const { bitcoin } = await getReserves(depsOf({ bitcoinSources: [first, says('two', BigInt(other))] }));
    expect([bitcoin.balanceSatoshis, bitcoin.source, bitcoin.agreed]).toEqual(shown);
    const sources = [
      { name: 'one', balanceSatoshis: String(one) },
      { name: 'two', balanceSatoshis: String(other) },
    ];
    expect(bitcoin.sources).toEqual(typeof one === 'number' ? sources : expect.arrayContaining([sources[1]]));
  });

  it('shows whether the custodian lacks the Bitcoin key, and null while the custodian does not respond', async () => {
    expect((await getReserves(depsOf())).bitcoin.watchOnly).toBe(true);
    const { bitcoin } = await getReserves(depsOf({ custody: { signingState: down } }));
    expect(bitcoin).toMatchObject({ watchOnly: null, balanceSatoshis: '700' });
  });

  eachRow<[who: string, authority: string | null, minting: object, calls: number]>(`
    the reserve and the witness together | "${MULTISIG}" | { "required": 2, "signers": ["${SOLANA}", "${WITNESS}"] } | 1
    the reserve alone                    | "${SOLANA}"   | { "required": 1, "signers": ["${SOLANA}"] }               | 1
    another key                          | "${WITNESS}"  | { "required": 1, "signers": ["${WITNESS}"] }              | 2
    nobody                               | null          | { "required": 0, "signers": [] }                          | 1
  `)('shows, as the chain does, that %s can mint', async (_who, authority, minting, calls) => {
    const { node: chain, asked } = chainWith(authority);
    const deps = depsOf({ solanaSources: [chain], absrMint: MINT, mintAuthority: MULTISIG });
    const shown = { balanceLamports: '9', minting: { authority, ...minting } };
    expect((await getReserves(deps)).solana).toMatchObject(shown);
    expect(asked).toHaveLength(calls);
  });

  it('shows that minting is disabled only if the mint was read', async () => {
    for (const deps of [depsOf(), depsOf({ absrMint: MINT })])
      expect((await getReserves(deps)).solana).toMatchObject({ balanceLamports: '9', minting: null });
  });

  it('does not show what the treasury holds while nodes contradict each other, or without a treasury', async () => {
    const nodeWith = (name: string, atoms: bigint) => {
      const data = tokenData([MINT, TREASURY], atoms);
      const account = { owner: TOKEN_PROGRAM, lamports: 1n, data };
      const { node: chain, asked } = chainWith(SOLANA, [[findAta(TREASURY, MINT, TOKEN_PROGRAM), account]]);
      return { ...chain, name, asked };
    };
    const first = nodeWith('rpc-1', 1n);
    const nodes = [first, nodeWith('rpc-2', 0n)];
    const absrOf = async (of: Partial<ReservesDeps>) =>
      (await getReserves(depsOf({ solanaSources: nodes, absrMint: MINT, ...of }))).solana.absr;
    expect(await absrOf({ treasuryAddress: TREASURY })).toBe(null);
    expect(await absrOf({})).toBe(null);
    first.asked.length = 0;
    const absr = await absrOf({ solanaSources: [first], treasuryAddress: TREASURY });
    expect(absr).toEqual({ treasuryAtoms: '1', supplyAtoms: '1', decimals: 0 });
    expect(first.asked).toHaveLength(1);
  });

  it('shows the lowest balance of all nodes, whatever slot another node claims', async () => {
    const solanaSources = [node('rpc-1', 2n, 10n ** 15n), node('rpc-2', 1n, 50n)];
    const { solana } = await getReserves(depsOf({ solanaSources }));
    expect(solana).toMatchObject({ balanceLamports: '1', source: 'rpc-2', slot: '50' });
  });

  it('does not show who can mint while nodes contradict each other', async () => {
    const solanaSources = [chainWith(MULTISIG).node, { ...chainWith(SOLANA).node, name: 'rpc-2' }];
    const deps = depsOf({ solanaSources, absrMint: MINT, mintAuthority: MULTISIG });
    expect((await getReserves(deps)).solana).toMatchObject({ balanceLamports: '9', minting: null });
  });

  it('the report shows the other chain and names the error while one chain is down', async () => {
    const { code, message } = RPC_ERRORS.unhealthy;
    const accounts = () => Promise.reject(new RpcRefusal(code, message, undefined));
    const solanaSources = [{ name: 'rpc-1', accounts }];
    const { bitcoin, solana, errors } = await getReserves(depsOf({ solanaSources }));
    expect(bitcoin.balanceSatoshis).toBe('700');
    expect(solana).toMatchObject({ balanceLamports: null, source: null });
    expect(errors).toEqual([{ part: 'solana', error_code: 'UPSTREAM_FAILED' }]);
  });
});

const txid = (n: number): string => n.toString(16).padStart(64, '0');
const paying = (n: number, height: number | null): BitcoinTx => ({
  txid: txid(n),
  inputs: [{ address: 'other', value: sats(12n) }],
  outputs: [
    { address: ADDRESS, value: sats(10n) },
    { address: 'other', value: sats(2n) },
  ],
  block: height === null ? null : { height, time: 1_700_000_000 + height },
});
type PagedSource = Parameters<typeof listBitcoin>[0]['bitcoinSources'][number];

/** An index with this number of confirmed transactions, newest first, and a mempool. */
function index(name: string, confirmed: number, p: { pool?: BitcoinTx[]; cutAfter?: number } = {}) {
  const chain = Array.from({ length: confirmed }, (_, at) => paying(confirmed - at, confirmed - at));
  const pool = p.pool ?? [];
  const source: PagedSource & { asked: string[] } = {
    name,
    asked: [],
    balance: async () => ({
      ...{ confirmed: sats(0n), pendingDelta: sats(0n), pendingSpent: sats(0n) },
      ...{ confirmedTxs: confirmed, pendingTxs: pool.length },
    }),
    mempoolTxs: async () => pool,
    async chainTxs(_, last) {
      source.asked.push(last ?? '');
      const from = last === undefined ? 0 : chain.findIndex((tx) => tx.txid === last) + 1;
      if (p.cutAfter !== undefined && from >= p.cutAfter) return [];
      return chain.slice(from, from + 25);
    },
  };
  return source;
}

const list = (...bitcoinSources: PagedSource[]) =>
  listBitcoin({
    cache: isolate({ ms: 0 }),
    reserve: { bitcoinAddress: ADDRESS },
    bitcoinSources,
    sleep: async () => undefined,
  }).then(({ value }) => value);

describe('the Bitcoin list', () => {
  it.each([130, 600])(
    'the Bitcoin list of %i transactions shows the newest 100, each once, newest first',
    async (count) => {
      const pool = [paying(9_001, null), paying(9_002, null)];
      const { transactions } = await list(index('one', count, { pool }));
      expect(transactions).toHaveLength(100);
      expect(new Set(transactions.map((entry) => entry.txid)).size).toBe(100);
      expect(transactions.slice(0, 3)).toEqual([
        { txid: txid(9_001), blockTime: null, blockHeight: null, netSatoshis: '10' },
        { txid: txid(9_002), blockTime: null, blockHeight: null, netSatoshis: '10' },
        { txid: txid(count), blockTime: 1_700_000_000 + count, blockHeight: count, netSatoshis: '10' },
      ]);
      const heights = transactions.slice(2).map(({ blockHeight }) => blockHeight);
      expect(heights).toEqual(Array.from({ length: 98 }, (_, at) => count - at));
    },
  );

  it('the Bitcoin list shows a transaction once, as mined, if it is mined during the read', async () => {
    const { transactions } = await list(index('one', 3, { pool: [paying(3, null)] }));
    expect(transactions.map((entry) => entry.blockHeight)).toEqual([3, 2, 1]);
  });

  it('the Bitcoin list is empty for an unused address, and an error if the source sends only part of it', async () => {
    expect((await list(index('one', 0))).transactions).toEqual([]);
    await expect(list(index('one', 130, { cutAfter: 50 }))).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      details: { reason: 'incomplete_list' },
    });
  });

  it('uses the Bitcoin source with more transactions, and the other source if that one fails', async () => {
    const behind = index('one', 40);
    expect((await list(behind, index('two', 41))).source).toBe('two');
    expect((await list(behind, index('two', 41, { cutAfter: 25 }))).source).toBe('one');
    expect((await list(index('one', 40), index('two', 40))).source).toBe('one');
    await expect(list({ ...behind, balance: down })).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });
});

describe('a cursor in the list of transactions', () => {
  const PATH = '/api/transactions/bitcoin';
  const one = index('one', 250);
  const reserve = { bitcoinAddress: ADDRESS };
  const request = routerOver(
    () => ({ reserves: { cache, reserve, bitcoinSources: [one], sleep: async () => undefined } }),
    (app) => app.route('/api', reservesRoutes as never),
  );
  const cache = isolate({ ms: 0 });
  const page = async (query: string) => {
    const response = await request(`${PATH}?${query}`);
    return { status: response.status, body: await response.json<Record<string, unknown>>() };
  };

  it('shows each of the newest 100 once, and refuses an invented transaction without a call to an index', async () => {
    const shown: unknown[] = [];
    for (let query: string | null = 'limit=40'; query !== null; ) {
      const { body } = await page(query);
      shown.push(...(body.transactions as unknown[]));
      query = body.next_cursor === null ? null : `limit=40&cursor=${body.next_cursor}`;
    }
    expect(new Set(shown.map((entry) => JSON.stringify(entry))).size).toBe(100);
    expect(shown).toHaveLength(100);
    const asked = one.asked.length;
    const invented = await page(`cursor=${encodeCursor('bitcoin', [txid(9_999)])}`);
    expect([invented.status, invented.body.error_code]).toEqual([400, 'INVALID_INPUT']);
    expect(one.asked).toHaveLength(asked);
  });
});

describe('the Solana list', () => {
  const entry = (n: number, err: unknown = null): SignatureEntry => ({
    ...{ signature: `sig${n}`, slot: BigInt(n), blockTime: n, err },
  });
  const rpc = (name: string, entries: SignatureEntry[]) => ({ name, signaturesFor: async () => entries });
  const listOf = (...solanaSources: Parameters<typeof listSolana>[0]['solanaSources']) =>
    listSolana({
      cache: isolate({ ms: 0 }),
      reserve: { solanaAddress: SOLANA },
      solanaSources,
      sleep: async () => undefined,
    }).then(({ value }) => value);

  it('the Solana list comes from the newest node and shows failed transactions with their error', async () => {
    const err = TRANSACTION_ERRORS.custom;
    const newer = rpc('rpc-2', [entry(7, err), entry(5)]);
    const { transactions, source } = await listOf(rpc('rpc-1', [entry(5)]), newer);
    expect(source).toBe('rpc-2');
    expect(transactions[0]).toEqual({ signature: 'sig7', blockTime: 7, err, slot: '7' });
    expect(transactions[1]?.err).toBeNull();
  });

  it('with one call, the Solana list of an address with 600 transactions shows the newest 100', async () => {
    const all = Array.from({ length: 600 }, (_, at) => entry(600 - at));
    const pages: unknown[] = [];
    const { transactions } = await listOf({
      name: 'rpc-1',
      async signaturesFor(_address, page) {
        pages.push(page);
        return all.slice(0, page.limit);
      },
    });
    const newest = Array.from({ length: 100 }, (_, at) => 600 - at);
    expect(transactions.map(({ slot }) => Number(slot))).toEqual(newest);
    expect(pages).toEqual([{ limit: 100, commitment: 'finalized' }]);
  });

  it('a node without history does not empty the Solana list; without any node the list is an error', async () => {
    const { transactions } = await listOf(rpc('rpc-1', []), rpc('rpc-2', [entry(5)]));
    expect(transactions).toHaveLength(1);
    const dead = listOf({ name: 'rpc-1', signaturesFor: down });
    await expect(dead).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });
});

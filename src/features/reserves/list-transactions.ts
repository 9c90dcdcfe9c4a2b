import { z } from '@hono/zod-openapi';
import { netEffect } from '../../chain/bitcoin/net-effect.ts';
import { notConfigured, upstreamFailed } from '../../core/errors.ts';
import { refreshing } from '../../http/cache-policy.ts';
import type { Cache, Cached } from '../../http/cached.ts';
import type { BitcoinTx, Esplora } from '../../providers/esplora.ts';
import type { SignatureEntry, SolanaNode } from '../../providers/solana-rpc.ts';
import { CHAIN_POLICY } from './get-reserves.ts';
import { bestOf, failureOf, querySources } from './query-sources.ts';

export type ListBitcoinDeps = {
  readonly cache: Cache;
  readonly reserve: { readonly bitcoinAddress: string | null };
  readonly bitcoinSources: readonly Pick<Esplora, 'name' | 'balance' | 'mempoolTxs' | 'chainTxs'>[];
  readonly sleep: (ms: number) => Promise<void>;
};

export const BitcoinEntry = z.object({
  txid: z.string(),
  blockTime: z.int().nullable().describe('Unix seconds, null in the mempool'),
  blockHeight: z.int().nullable(),
  netSatoshis: z.string().describe('Sats that the reserve gains; negative when it spends'),
});
export type BitcoinEntry = z.infer<typeof BitcoinEntry>;

/** `source` is the upstream that responded. */
export type List<Entry> = { readonly transactions: readonly Entry[]; readonly source: string };

/** The limit that the API contract sets for this list. */
const LIST_LIMIT = 100;
/** Maximum pages of confirmed rows. A page has about 25 rows, or a single row if that row is large. */
const MAX_PAGES = LIST_LIMIT;

/**
 * The reserve's newest transactions, mempool first. Uses the list of the index with the most confirmed transactions. If
 * that list fails or is incomplete, the next index's list is used.
 * @throws AppError UPSTREAM_FAILED if no index returns a complete list; NOT_CONFIGURED without an address
 */
export async function listBitcoin(
  deps: ListBitcoinDeps,
  refresh = false,
): Promise<Cached<List<BitcoinEntry>>> {
  const address = deps.reserve.bitcoinAddress;
  if (address === null) throw notConfigured(['RESERVE_BTC_ADDRESS']);
  const policy = refreshing(CHAIN_POLICY, refresh);
  return deps.cache.read('reserves:bitcoin-transactions', policy, () => readBitcoinList(deps, address));
}

async function readBitcoinList(deps: ListBitcoinDeps, address: string): Promise<List<BitcoinEntry>> {
  const results = await querySources(deps.bitcoinSources, deps.sleep, async (source) => ({
    source,
    ...(await source.balance(address)),
  }));
  const views = results.flatMap((result) => (result.ok ? [result.value] : []));
  let failure = failureOf(results);
  // A lagging index has fewer transactions. The sort is stable, so among equals the first configured one is
  // used.
  for (const view of views.sort((a, b) => b.confirmedTxs - a.confirmedTxs)) {
    try {
      const txs = await readTxs(view.source, address, view);
      return { transactions: txs.map((tx) => bitcoinEntry(tx, address)), source: view.source.name };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** @param known numbers of transactions that the index reports */
async function readTxs(
  source: Pick<Esplora, 'name' | 'mempoolTxs' | 'chainTxs'>,
  address: string,
  known: { readonly confirmedTxs: number; readonly pendingTxs: number },
): Promise<BitcoinTx[]> {
  const rows = new Map<string, BitcoinTx>();
  for (const tx of known.pendingTxs > 0 ? await source.mempoolTxs(address) : []) rows.set(tx.txid, tx);
  const confirmed = new Map<string, BitcoinTx>();
  let last: string | undefined;
  for (let page = 0; page < MAX_PAGES && rows.size + confirmed.size < LIST_LIMIT; page++) {
    const txs = await source.chainTxs(address, last);
    const before = confirmed.size;
    for (const tx of txs) {
      // The transaction was mined during the read.
      rows.delete(tx.txid);
      confirmed.set(tx.txid, tx);
    }
    last = txs.at(-1)?.txid;
    if (confirmed.size === before) break;
  }
  // An empty page may be the end, or the result of a block that was just reorganized away.
  if (confirmed.size < Math.min(known.confirmedTxs, LIST_LIMIT - rows.size)) {
    throw upstreamFailed(source.name, 'incomplete_list');
  }
  return [...rows.values(), ...confirmed.values()].slice(0, LIST_LIMIT);
}

const bitcoinEntry = (tx: BitcoinTx, address: string): BitcoinEntry => ({
  txid: tx.txid,
  blockTime: tx.block?.time ?? null,
  blockHeight: tx.block?.height ?? null,
  netSatoshis: netEffect(tx, address).toString(),
});

export type ListSolanaDeps = {
  readonly cache: Cache;
  readonly reserve: { readonly solanaAddress: string | null };
  readonly solanaSources: readonly Pick<SolanaNode, 'name' | 'signaturesFor'>[];
  readonly sleep: (ms: number) => Promise<void>;
};

export const SolanaEntry = z.object({
  signature: z.string(),
  blockTime: z.int().nullable().describe('Unix seconds'),
  err: z.unknown().describe("The chain's error; null for a success"),
  slot: z.string(),
});
export type SolanaEntry = z.infer<typeof SolanaEntry>;

/**
 * Finalized transactions that name the reserve's address, newest first, including failed ones. The newest of the nodes'
 * lists is shown, because a node may lag or lack history.
 * @throws AppError UPSTREAM_FAILED when no node responds; NOT_CONFIGURED without an address
 */
export async function listSolana(deps: ListSolanaDeps, refresh = false): Promise<Cached<List<SolanaEntry>>> {
  const address = deps.reserve.solanaAddress;
  if (address === null) throw notConfigured(['RESERVE_SOLANA_ADDRESS']);
  const policy = refreshing(CHAIN_POLICY, refresh);
  return deps.cache.read('reserves:solana-transactions', policy, () => readSolanaList(deps, address));
}

async function readSolanaList(deps: ListSolanaDeps, address: string): Promise<List<SolanaEntry>> {
  const page = { limit: LIST_LIMIT, commitment: 'finalized' as const };
  const ask = (node: (typeof deps.solanaSources)[number]) => node.signaturesFor(address, page);
  const { name, value } = bestOf(await querySources(deps.solanaSources, deps.sleep, ask), isFuller);
  return { transactions: value.map(solanaEntry), source: name };
}

function isFuller(a: readonly SignatureEntry[], b: readonly SignatureEntry[]): boolean {
  const newest = (entries: readonly SignatureEntry[]): bigint => entries[0]?.slot ?? -1n;
  return newest(a) === newest(b) ? a.length > b.length : newest(a) > newest(b);
}

const solanaEntry = ({ signature, blockTime, err, slot }: SignatureEntry): SolanaEntry => ({
  signature,
  blockTime,
  err,
  slot: slot.toString(),
});

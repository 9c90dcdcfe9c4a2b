import { notConfigured } from '../../core/errors.ts';
import { failureOf, queryAll } from '../../core/query-all.ts';
import type { Cache, Cached } from '../../http/cached.ts';
import { type Refresh, refreshing } from '../../http/prewarmed.ts';
import { asUpstreamFailure, type SignatureEntry, type SolanaNode } from '../../providers/solana-rpc.ts';
import { GRACE_MS, RESERVE_POLICY } from './get-reserves.ts';
import { LATER_POLICY, LIST_LIMIT } from './list-bitcoin.ts';

export type ListSolanaDeps = {
  readonly cache: Cache;
  readonly reserve: { readonly solanaAddress: string | null };
  readonly solanaSources: readonly Pick<SolanaNode, 'name' | 'signaturesFor'>[];
  readonly sleep: (ms: number) => Promise<void>;
};

export type SolanaEntry = {
  readonly signature: string;
  /** Unix seconds. */
  readonly blockTime: number | null;
  /** As shown by the chain; null for a success. */
  readonly err: unknown;
  readonly slot: string;
};

export type SolanaList = { readonly transactions: readonly SolanaEntry[]; readonly source: string };

/**
 * Finalized transactions that name the reserve's address, newest first, including failed ones. The newest of
 * the nodes' lists is shown, because a node may lag or store no history.
 * @throws AppError UPSTREAM_FAILED when no node answers; NOT_CONFIGURED without an address
 */
export async function listSolana(d: ListSolanaDeps, refresh: Refresh = false): Promise<Cached<SolanaList>> {
  const address = d.reserve.solanaAddress;
  if (address === null) throw notConfigured(['SOLANA_PRIVATE_KEY']);
  const policy = refreshing(RESERVE_POLICY, refresh);
  return d.cache.read('reserves:solana-transactions', policy, () => readList(d, address));
}

/**
 * Transactions after one of the list. Those beyond the newest 100 are read from the nodes.
 * @param after signature of the last transaction shown
 * @throws AppError like `listSolana`
 */
export async function solanaAfter(
  d: ListSolanaDeps & { readonly memory: Cache },
  after: string,
): Promise<Cached<SolanaList>> {
  const head = await listSolana(d);
  const at = head.value.transactions.findIndex(({ signature }) => signature === after);
  const rest = head.value.transactions.slice(at + 1);
  if (at >= 0 && (rest.length > 0 || head.value.transactions.length < LIST_LIMIT))
    return { ...head, value: { ...head.value, transactions: rest } };
  const address = d.reserve.solanaAddress;
  if (address === null) throw notConfigured(['SOLANA_PRIVATE_KEY']);
  return d.memory.read(`solana-after:${after}`, LATER_POLICY, () => readList(d, address, after));
}

async function readList(d: ListSolanaDeps, address: string, before?: string): Promise<SolanaList> {
  const page = { limit: LIST_LIMIT, commitment: 'finalized' as const, ...(before ? { before } : {}) };
  const asks = d.solanaSources.map((node) => ({
    name: node.name,
    ask: () => node.signaturesFor(address, page),
  }));
  const answers = await queryAll(asks, { graceMs: GRACE_MS, sleep: d.sleep });
  const lists = answers.flatMap((answer) =>
    answer.ok ? [{ source: answer.name, entries: answer.value }] : [],
  );
  const [first] = lists;
  if (!first) throw asUpstreamFailure(failureOf(answers));
  const best = lists.reduce((most, list) => (isFuller(list.entries, most.entries) ? list : most), first);
  return { transactions: best.entries.map(entryOf), source: best.source };
}

function isFuller(a: readonly SignatureEntry[], b: readonly SignatureEntry[]): boolean {
  const newest = (entries: readonly SignatureEntry[]): bigint => entries[0]?.slot ?? -1n;
  return newest(a) === newest(b) ? a.length > b.length : newest(a) > newest(b);
}

const entryOf = ({ signature, blockTime, err, slot }: SignatureEntry): SolanaEntry => ({
  signature,
  blockTime,
  err,
  slot: slot.toString(),
});

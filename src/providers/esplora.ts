/**
 * Esplora REST client (Blockstream/esplora API.md). Read-only. Amounts are sats; times are Unix seconds. The page sizes of
 * mempool.space and blockstream.info differ, and both may repeat rows: callers get each txid of a page once.
 * @module
 */
import * as z from 'zod';
import { type Sats, sats } from '../core/amount.ts';
import { upstreamFailed } from '../core/errors.ts';
import { ask, type Fetch, getJson, shaped, type UpstreamResponse } from './http.ts';

const count = z.int().min(0);
const Stats = z.object({ funded_txo_sum: count, spent_txo_sum: count, tx_count: count });
/** An address cannot have spent more than it received. In the mempool alone it can. */
const Confirmed = Stats.refine(({ funded_txo_sum: funded, spent_txo_sum: spent }) => spent <= funded);
const AddressInfo = z.object({ chain_stats: Confirmed, mempool_stats: Stats });
const Status = z.object({
  confirmed: z.boolean(),
  block_height: count.optional(),
  block_hash: z.string().optional(),
  block_time: count.optional(),
});
const Output = z.object({ scriptpubkey_address: z.string().optional(), value: count }).transform((row) => ({
  address: row.scriptpubkey_address ?? null,
  value: sats(BigInt(row.value)),
}));
const Tx = z
  .object({
    txid: z.string().regex(/^[0-9a-f]{64}$/),
    vin: z.array(z.object({ prevout: Output.nullish() })),
    vout: z.array(Output),
    status: Status,
  })
  .transform(
    ({ txid, vin, vout, status: { confirmed, block_height: height, block_time: time } }): BitcoinTx => ({
      txid,
      inputs: vin.flatMap(({ prevout }) => prevout ?? []),
      outputs: vout,
      block: confirmed && height !== undefined && time !== undefined ? { height, time } : null,
    }),
  );

type BitcoinOutput = { readonly address: string | null; readonly value: Sats };
export type BitcoinTx = {
  readonly txid: string;
  readonly inputs: readonly BitcoinOutput[];
  readonly outputs: readonly BitcoinOutput[];
  /** Null while unconfirmed. `time` is the block's, in Unix seconds. */
  readonly block: { readonly height: number; readonly time: number } | null;
};

const net = (stats: z.infer<typeof Stats>): bigint =>
  BigInt(stats.funded_txo_sum) - BigInt(stats.spent_txo_sum);

export type Esplora = ReturnType<typeof createEsplora>;

export function createEsplora(opts: { baseUrl: string; name: string; fetch: Fetch }) {
  const at = (path: string) => ({ fetch: opts.fetch, upstream: opts.name, url: `${opts.baseUrl}${path}` });
  /** Third parties can make transactions large: 100,000 virtual bytes are up to 10 MB of JSON. */
  const large = (path: string) => ({ ...at(path), shortens: true });

  async function list(path: string): Promise<BitcoinTx[]> {
    const seen = new Set<string>();
    const rows = await getJson(large(path), z.array(Tx));
    return rows.filter((tx) => !seen.has(tx.txid) && seen.add(tx.txid));
  }

  return {
    name: opts.name,

    /**
     * Confirmed balance and number of confirmed transactions, in one response. `pendingDelta` is the mempool's
     * net effect and may be negative; `pendingSpent` is the sum that it spends, with change not deducted.
     */
    async balance(address: string) {
      return balanceOf(await getJson(at(`/address/${encodeURIComponent(address)}`), AddressInfo));
    },

    /** The height of the best block; this API returns it as bare text. */
    async tipHeight(): Promise<number> {
      return Number(bareText(opts.name, await ask(at('/blocks/tip/height')), /^\d{1,9}$/, 'not_a_height'));
    },

    tipHash: async (): Promise<string> => blockHashOf(opts.name, await ask(at('/blocks/tip/hash'))),

    /** One transaction, or null if this index does not have it. */
    async tx(txid: string): Promise<BitcoinTx | null> {
      const response = await ask(large(`/tx/${encodeURIComponent(txid)}`));
      if (response.status === 404) return null;
      const row = shaped(opts.name, response, Tx);
      // Without this check, an index could present any payment as the requested one.
      if (row.txid !== txid) throw upstreamFailed(opts.name, 'other_txid');
      return row;
    },

    /** Unconfirmed transactions of the address, at most 50: the index returns no more. Fewer if they are large. */
    mempoolTxs: (address: string): Promise<BitcoinTx[]> =>
      list(`/address/${encodeURIComponent(address)}/txs/mempool`),

    /**
     * Confirmed transactions of the address that are older than `lastSeenTxid`, newest first. A page has about 25, or
     * fewer if they are large.
     */
    chainTxs(address: string, lastSeenTxid?: string): Promise<BitcoinTx[]> {
      const page = lastSeenTxid ? `/${encodeURIComponent(lastSeenTxid)}` : '';
      return list(`/address/${encodeURIComponent(address)}/txs/chain${page}`);
    },

    /** The hash of the best chain's block at a height, or null above its tip. */
    async blockHash(height: number): Promise<string | null> {
      const response = await ask(at(`/block-height/${height}`));
      return response.status === 404 ? null : blockHashOf(opts.name, response);
    },
  };
}

const balanceOf = ({ chain_stats: chain, mempool_stats: mempool }: z.infer<typeof AddressInfo>) => ({
  confirmed: sats(net(chain)),
  confirmedTxs: chain.tx_count,
  pendingDelta: sats(net(mempool)),
  pendingSpent: sats(BigInt(mempool.spent_txo_sum)),
  pendingTxs: mempool.tx_count,
});

const blockHashOf = (upstream: string, response: UpstreamResponse): string =>
  bareText(upstream, response, /^[0-9a-f]{64}$/, 'not_a_hash');

/** @param otherwise the failure's reason if a response with status 200 has another form */
function bareText(
  upstream: string,
  { status, text }: UpstreamResponse,
  form: RegExp,
  otherwise: string,
): string {
  if (status === 200 && form.test(text)) return text;
  throw upstreamFailed(upstream, status === 200 ? otherwise : `status_${status}`);
}

import { hex } from '@scure/base';
import { Address, NETWORK, OutScript, TEST_NETWORK } from '@scure/btc-signer';
import type { IndexedTx } from './bitcoin-index.ts';
import type { BitcoinNode } from './bitcoin-node.ts';
import { addressStats, showStatus, showTransaction } from './esplora-shapes.ts';
import type { FaultBook } from './fault-book.ts';
import { type Answer, json, startUpstream, text, type Upstream, type WorldRequest } from './fault-gate.ts';
import type { RequestCounts } from './request-counts.ts';

/** The imitated operator: the two public ones page differently. */
export type EsploraFlavor = 'blockstream' | 'mempool';

const PAGE = 25;
const FIRST_PAGE = 50;

/** Thrown for an error response; Esplora's errors are plain text. */
class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function scriptOfParam(param: string): string {
  try {
    return hex.encode(OutScript.encode(Address(NETWORK).decode(param)));
  } catch {
    let foreign = param.startsWith('bcrt1');
    try {
      Address(TEST_NETWORK).decode(param);
      foreign = true;
    } catch {}
    throw new Refusal(400, foreign ? 'Address on invalid network' : 'Invalid Bitcoin address');
  }
}

const hexId = (param: string): string => {
  if (!/^[0-9a-f]{64}$/i.test(param)) throw new Refusal(400, 'Invalid hex string');
  return param.toLowerCase();
};

interface View {
  readonly tip: number;
  /** Satoshis added to the confirmed balance, as a lie. */
  readonly extraSats: number;
}

/**
 * Esplora's HTTP API over the world's node, with mainnet address text. Faults of its own: `wrongBalance` (by sats),
 * `staleTip` (by blocks: it lacks the tip and the newest transactions).
 */
export function startEsploraAdapter(options: {
  name: string;
  flavor: EsploraFlavor;
  node: BitcoinNode;
  faults: FaultBook;
  counts: RequestCounts;
}): Promise<Upstream> {
  const { name, flavor, node, faults, counts } = options;
  const { index } = node;

  const seen = (tx: IndexedTx | null, { tip }: View): tx is IndexedTx =>
    tx !== null && (tx.block === null || tx.block.height <= tip);

  function history(param: string, view: View): { script: string; pool: IndexedTx[]; chain: IndexedTx[] } {
    const script = scriptOfParam(param);
    const all = index.byScript(script).filter((tx) => seen(tx, view));
    return {
      script,
      pool: all.filter((tx) => tx.block === null),
      chain: all.filter((tx) => tx.block !== null),
    };
  }

  const show = (txs: readonly IndexedTx[]): Answer =>
    json(
      200,
      txs.map((tx) => showTransaction(index, tx)),
    );

  // An unknown id ends the list, because it is never found.
  function after(txs: readonly IndexedTx[], txid: string): readonly IndexedTx[] {
    const at = txs.findIndex((tx) => tx.txid === txid);
    return at === -1 ? [] : txs.slice(at + 1);
  }

  const limit = ({ query }: WorldRequest, standard: number): number =>
    flavor === 'mempool' && query.has('max_txs') ? Number(query.get('max_txs')) : standard;

  function addressSummary(param: string, view: View): Answer {
    const { script, pool, chain } = history(param, view);
    const stats = addressStats(index, chain, script);
    return json(200, {
      address: param,
      chain_stats: { ...stats, funded_txo_sum: (stats.funded_txo_sum ?? 0) + view.extraSats },
      mempool_stats: addressStats(index, pool, script),
    });
  }

  function addressTxs(param: string, request: WorldRequest, view: View): Answer {
    const { pool, chain } = history(param, view);
    if (flavor === 'blockstream') return show([...pool.slice(0, FIRST_PAGE), ...chain.slice(0, PAGE)]);
    const all = [...pool, ...chain];
    const from = request.query.get('after_txid');
    if (from === null) return show(all.slice(0, limit(request, FIRST_PAGE)));
    if (!all.some((tx) => tx.txid === from)) throw new Refusal(422, 'after_txid not found');
    return show(after(all, from).slice(0, limit(request, PAGE)));
  }

  function addressChain(param: string, last: string | undefined, request: WorldRequest, view: View): Answer {
    const { chain } = history(param, view);
    const rest = last === undefined ? chain : after(chain, hexId(last));
    return show(rest.slice(0, limit(request, PAGE)));
  }

  function addressUtxo(param: string, view: View): Answer {
    const { script, pool, chain } = history(param, view);
    const unspent = [...pool, ...chain].flatMap((tx) =>
      tx.outputs.flatMap((output, vout) =>
        output.script === script && index.spender(tx.txid, vout) === null
          ? [{ txid: tx.txid, vout, status: showStatus(tx), value: output.sats }]
          : [],
      ),
    );
    if (unspent.length > 500)
      throw new Refusal(
        400,
        flavor === 'mempool'
          ? 'Too many unspent transaction outputs (>500). Contact support to raise limits.'
          : 'Too many history entries',
      );
    return json(200, unspent);
  }

  function transaction(param: string, view: View): IndexedTx {
    const tx = index.get(hexId(param));
    if (!seen(tx, view)) throw new Refusal(404, 'Transaction not found');
    return tx;
  }

  function outspend(tx: IndexedTx, vout: number): unknown {
    const spend = index.spender(tx.txid, vout);
    if (spend === null) return { spent: false };
    return { spent: true, txid: spend.tx.txid, vin: spend.vin, status: showStatus(spend.tx) };
  }

  async function blockHash(param: string, view: View): Promise<Answer> {
    if (!/^\d+$/.test(param)) throw new Refusal(400, 'Invalid number');
    const hash = Number(param) <= view.tip ? await node.blockHash(Number(param)) : null;
    if (hash === null) throw new Refusal(404, 'Block not found');
    return text(200, hash);
  }

  async function broadcast(body: string): Promise<Answer> {
    try {
      return text(200, await node.broadcast(body.trim()));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Refusal(
        400,
        `sendrawtransaction RPC error: ${JSON.stringify({ code: -26, message: reason })}`,
      );
    }
  }

  function route(request: WorldRequest, view: View): Answer | Promise<Answer> {
    const [kind = '', id = '', what = '', more, last] = request.path
      .replace(/^\/api/, '')
      .split('/')
      .slice(1);
    if (request.method === 'POST' && kind === 'tx') return broadcast(request.body);
    if (kind === 'address' && what === '') return addressSummary(id, view);
    if (kind === 'address' && what === 'utxo') return addressUtxo(id, view);
    if (kind === 'address' && what === 'txs') {
      if (more === undefined) return addressTxs(id, request, view);
      if (more === 'chain') return addressChain(id, last, request, view);
      if (more === 'mempool') return show(history(id, view).pool.slice(0, FIRST_PAGE));
    }
    if (kind === 'tx' && id !== '') {
      const tx = transaction(id, view);
      if (what === '') return json(200, showTransaction(index, tx));
      if (what === 'status') return json(200, showStatus(tx));
      if (what === 'hex') return text(200, tx.raw);
      if (what === 'outspends')
        return json(
          200,
          tx.outputs.map((_, vout) => outspend(tx, vout)),
        );
      if (what === 'outspend') return json(200, outspend(tx, Number(more)));
    }
    if (kind === 'blocks' && what === 'height') return text(200, String(view.tip));
    if (kind === 'blocks' && what === 'hash') return blockHash(String(view.tip), view);
    if (kind === 'block-height') return blockHash(id, view);
    throw new Refusal(404, 'endpoint does not exist');
  }

  async function handle(request: WorldRequest): Promise<Answer> {
    const view: View = {
      tip: node.height() - (faults.take(name, 'staleTip', request.label)?.by ?? 0),
      extraSats: faults.take(name, 'wrongBalance', request.label)?.by ?? 0,
    };
    try {
      return await route(request, view);
    } catch (error) {
      if (error instanceof Refusal) return text(error.status, error.message);
      throw error;
    }
  }

  return startUpstream({
    name,
    faults,
    counts,
    openToPages: true,
    handle,
    label: ({ method, path }) =>
      `${method} ${path
        .replace(/\/address\/[^/]+/, '/address/:address')
        .replace(/[0-9a-f]{64}/gi, ':txid')
        .replace(/\/block-height\/\d+/, '/block-height/:height')}`,
  });
}

import { hex } from '@scure/base';
import { Address, NETWORK, OutScript, TEST_NETWORK } from '@scure/btc-signer';
import { type Answer, json, text, type WorldRequest } from '../kit/transport.ts';
import type { IndexedTx } from './bitcoin-index.ts';
import type { BitcoinNode } from './bitcoin-node.ts';
import { addressStats, showTransaction } from './esplora-shapes.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream, type Upstream } from './fault-gate.ts';
import type { RequestCounts } from './request-counts.ts';

const PAGE = 25;
const MEMPOOL_PAGE = 50;

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
  node: BitcoinNode;
  faults: FaultBook;
  counts: RequestCounts;
}): Promise<Upstream> {
  const { name, node, faults, counts } = options;
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

  function addressSummary(param: string, view: View): Answer {
    const { script, pool, chain } = history(param, view);
    const stats = addressStats(index, chain, script);
    return json(200, {
      address: param,
      chain_stats: { ...stats, funded_txo_sum: (stats.funded_txo_sum ?? 0) + view.extraSats },
      mempool_stats: addressStats(index, pool, script),
    });
  }

  function addressChain(param: string, last: string | undefined, view: View): Answer {
    const { chain } = history(param, view);
    const rest = last === undefined ? chain : after(chain, hexId(last));
    return show(rest.slice(0, PAGE));
  }

  function transaction(param: string, view: View): IndexedTx {
    const tx = index.get(hexId(param));
    if (!seen(tx, view)) throw new Refusal(404, 'Transaction not found');
    return tx;
  }

  async function blockHash(param: string, view: View): Promise<Answer> {
    if (!/^\d+$/.test(param)) throw new Refusal(400, 'Invalid number');
    const hash = Number(param) <= view.tip ? await node.blockHash(Number(param)) : null;
    if (hash === null) throw new Refusal(404, 'Block not found');
    return text(200, hash);
  }

  function route(request: WorldRequest, view: View): Answer | Promise<Answer> {
    const [kind = '', id = '', what = '', more, last] = request.path
      .replace(/^\/api/, '')
      .split('/')
      .slice(1);
    if (kind === 'address' && what === '') return addressSummary(id, view);
    if (kind === 'address' && what === 'txs' && more === 'chain') return addressChain(id, last, view);
    if (kind === 'address' && what === 'txs' && more === 'mempool')
      return show(history(id, view).pool.slice(0, MEMPOOL_PAGE));
    if (kind === 'tx' && id !== '' && what === '')
      return json(200, showTransaction(index, transaction(id, view)));
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

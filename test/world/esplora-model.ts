/** Esplora's HTTP API with mainnet address text, over what an index shows at one moment. */
import { Address, TEST_NETWORK } from '@scure/btc-signer';
import { type Answer, json, text, type WorldRequest } from '../kit/transport.ts';
import type { IndexedTx, TransactionIndex } from './bitcoin-index.ts';
import { scriptOf } from './bitcoin-wallet.ts';
import { addressStats, showTransaction } from './esplora-shapes.ts';

export interface IndexView extends TransactionIndex {
  /** Height of the newest block; later transactions are not shown. */
  readonly tip: number;
  /** Satoshis added to the confirmed balance, as a lie. */
  readonly extraSats: number;
  blockHash(height: number): string | null | Promise<string | null>;
}

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
    return scriptOf(param);
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

/** An unknown id ends the list, because it is never found. */
function after(txs: readonly IndexedTx[], txid: string): readonly IndexedTx[] {
  const at = txs.findIndex((tx) => tx.txid === txid);
  return at === -1 ? [] : txs.slice(at + 1);
}

/** @param view at the time of the request */
export function esploraAnswer(view: IndexView, request: WorldRequest): Answer | Promise<Answer> {
  const seen = (tx: IndexedTx | null): tx is IndexedTx =>
    tx !== null && (tx.block === null || tx.block.height <= view.tip);

  function history(param: string): { script: string; pool: IndexedTx[]; chain: IndexedTx[] } {
    const script = scriptOfParam(param);
    const all = view.byScript(script).filter(seen);
    return {
      script,
      pool: all.filter((tx) => tx.block === null),
      chain: all.filter((tx) => tx.block !== null),
    };
  }

  const show = (txs: readonly IndexedTx[]): Answer =>
    json(
      200,
      txs.map((tx) => showTransaction(view, tx)),
    );

  function addressSummary(param: string): Answer {
    const { script, pool, chain } = history(param);
    const stats = addressStats(view, chain, script);
    return json(200, {
      address: param,
      chain_stats: { ...stats, funded_txo_sum: (stats.funded_txo_sum ?? 0) + view.extraSats },
      mempool_stats: addressStats(view, pool, script),
    });
  }

  function addressChain(param: string, last: string | undefined): Answer {
    const { chain } = history(param);
    const rest = last === undefined ? chain : after(chain, hexId(last));
    return show(rest.slice(0, PAGE));
  }

  function transaction(param: string): IndexedTx {
    const tx = view.get(hexId(param));
    if (!seen(tx)) throw new Refusal(404, 'Transaction not found');
    return tx;
  }

  async function blockHash(param: string): Promise<Answer> {
    if (!/^\d+$/.test(param)) throw new Refusal(400, 'Invalid number');
    const hash = Number(param) <= view.tip ? await view.blockHash(Number(param)) : null;
    if (hash === null) throw new Refusal(404, 'Block not found');
    return text(200, hash);
  }

  function route(): Answer | Promise<Answer> {
    const [kind = '', id = '', what = '', more, last] = request.path
      .replace(/^\/api/, '')
      .split('/')
      .slice(1);
    if (kind === 'address' && what === '') return addressSummary(id);
    if (kind === 'address' && what === 'txs' && more === 'chain') return addressChain(id, last);
    if (kind === 'address' && what === 'txs' && more === 'mempool')
      return show(history(id).pool.slice(0, MEMPOOL_PAGE));
    if (kind === 'tx' && id !== '' && what === '') return json(200, showTransaction(view, transaction(id)));
    if (kind === 'blocks' && what === 'height') return text(200, String(view.tip));
    if (kind === 'blocks' && what === 'hash') return blockHash(String(view.tip));
    if (kind === 'block-height') return blockHash(id);
    throw new Refusal(404, 'endpoint does not exist');
  }

  return answered(route);
}

async function answered(route: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await route();
  } catch (error) {
    if (error instanceof Refusal) return text(error.status, error.message);
    throw error;
  }
}

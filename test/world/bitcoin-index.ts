import { hex } from '@scure/base';
import type { Block, Entry, Tx } from 'bcoin';

export interface IndexedInput {
  /** Funding transaction; null for a coinbase. */
  readonly previous: { readonly txid: string; readonly vout: number } | null;
  readonly script: string;
  readonly witness: readonly string[];
  readonly sequence: number;
}

export interface IndexedOutput {
  readonly script: string;
  readonly sats: number;
}

export interface BlockPlace {
  readonly height: number;
  readonly hash: string;
  /** Unix seconds. */
  readonly time: number;
  /** Number of the transaction within its block. */
  readonly position: number;
}

export interface IndexedTx {
  readonly txid: string;
  readonly version: number;
  readonly locktime: number;
  readonly size: number;
  readonly weight: number;
  readonly inputs: readonly IndexedInput[];
  readonly outputs: readonly IndexedOutput[];
  /** Null while unconfirmed. */
  readonly block: BlockPlace | null;
}

/** Transactions of a chain and its memory pool, by id, script and spent output. */
export interface TransactionIndex {
  get(txid: string): IndexedTx | null;
  /** Transactions that fund or spend the script, unconfirmed first, then newest first. */
  byScript(script: string): readonly IndexedTx[];
  /** The output that an input spends; null for a coinbase. */
  prevout(input: IndexedInput): IndexedOutput | null;
}

/** All transactions of the node. */
export interface BitcoinIndex extends TransactionIndex {
  connect(entry: Entry, block: Block): void;
  disconnect(block: Block): void;
  /** Adds an unconfirmed transaction. */
  add(tx: Tx): void;
  /** Removes unconfirmed transactions that are no longer in the pool. */
  prune(pooled: (txid: string) => boolean): void;
  /** The input that spends an output. */
  spender(txid: string, vout: number): { readonly tx: IndexedTx; readonly vin: number } | null;
}

const reverseHex = (text: string): string => hex.encode(hex.decode(text).reverse());

function read(tx: Tx, block: BlockPlace | null): IndexedTx {
  const coinbase = tx.isCoinbase();
  return {
    txid: tx.txid(),
    version: tx.version,
    locktime: tx.locktime,
    size: tx.getSize(),
    weight: tx.getWeight(),
    inputs: tx.inputs.map((input) => ({
      previous: coinbase ? null : { txid: reverseHex(input.prevout.hash), vout: input.prevout.index },
      script: input.script.toRaw().toString('hex'),
      witness: input.witness.items.map((item) => item.toString('hex')),
      sequence: input.sequence,
    })),
    outputs: tx.outputs.map((output) => ({
      script: output.script.toRaw().toString('hex'),
      sats: output.value,
    })),
    block,
  };
}

export function createBitcoinIndex(): BitcoinIndex {
  const txs = new Map<string, IndexedTx>();
  const scripts = new Map<string, Set<string>>();
  const spends = new Map<string, { txid: string; vin: number }>();

  const key = (txid: string, vout: number): string => `${txid}:${vout}`;

  function prevout(input: IndexedInput): IndexedOutput | null {
    if (input.previous === null) return null;
    return txs.get(input.previous.txid)?.outputs[input.previous.vout] ?? null;
  }

  function scriptsOf(tx: IndexedTx): Set<string> {
    const touched = new Set(tx.outputs.map((output) => output.script));
    for (const input of tx.inputs) {
      const spent = prevout(input);
      if (spent !== null) touched.add(spent.script);
    }
    return touched;
  }

  function put(tx: IndexedTx): void {
    txs.set(tx.txid, tx);
    for (const script of scriptsOf(tx)) {
      const ids = scripts.get(script) ?? new Set<string>();
      ids.add(tx.txid);
      scripts.set(script, ids);
    }
    for (const [vin, { previous }] of tx.inputs.entries())
      if (previous !== null) spends.set(key(previous.txid, previous.vout), { txid: tx.txid, vin });
  }

  function drop(tx: IndexedTx): void {
    for (const script of scriptsOf(tx)) scripts.get(script)?.delete(tx.txid);
    for (const { previous } of tx.inputs)
      if (previous !== null && spends.get(key(previous.txid, previous.vout))?.txid === tx.txid)
        spends.delete(key(previous.txid, previous.vout));
    txs.delete(tx.txid);
  }

  function newerFirst(a: IndexedTx, b: IndexedTx): number {
    if (a.block === null || b.block === null) return Number(a.block !== null) - Number(b.block !== null);
    return b.block.height - a.block.height || b.block.position - a.block.position;
  }

  return {
    connect(entry, block) {
      for (const [position, tx] of block.txs.entries())
        put(read(tx, { height: entry.height, hash: entry.rhash(), time: entry.time, position }));
    },
    disconnect(block) {
      for (const tx of block.txs.toReversed()) {
        const known = txs.get(tx.txid());
        if (known !== undefined) drop(known);
      }
    },
    add: (tx) => put(read(tx, null)),
    prune(pooled) {
      for (const tx of txs.values()) if (tx.block === null && !pooled(tx.txid)) drop(tx);
    },
    get: (txid) => txs.get(txid) ?? null,
    byScript: (script) =>
      [...(scripts.get(script) ?? [])].flatMap((txid) => txs.get(txid) ?? []).toSorted(newerFirst),
    prevout,
    spender(txid, vout) {
      const spend = spends.get(key(txid, vout));
      const tx = spend === undefined ? undefined : txs.get(spend.txid);
      return spend === undefined || tx === undefined ? null : { tx, vin: spend.vin };
    },
  };
}

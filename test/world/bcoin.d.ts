/**
 * Types of the used parts of bcoin 1.0.2, which ships none. Hashes are lower-case hex in internal (reversed)
 * byte order.
 */
declare module 'bcoin' {
  interface Script {
    toRaw(): Buffer;
  }
  interface Tx {
    readonly version: number;
    readonly locktime: number;
    readonly inputs: readonly {
      readonly prevout: { readonly hash: string; readonly index: number };
      readonly script: Script;
      readonly witness: { readonly items: readonly Buffer[] };
      readonly sequence: number;
    }[];
    readonly outputs: readonly { readonly value: number; readonly script: Script }[];
    txid(): string;
    hash(encoding: 'hex'): string;
    isCoinbase(): boolean;
    getSize(): number;
    getWeight(): number;
    toRaw(): Buffer;
  }
  interface Block {
    readonly txs: readonly Tx[];
  }
  interface Entry {
    readonly hash: string;
    readonly height: number;
    readonly time: number;
    rhash(): string;
  }
  interface Template {
    time: number;
    fees: number;
    items: unknown[];
    refresh(): void;
  }
  class Chain {
    constructor(options: {
      network: 'regtest';
      memory: boolean;
      indexTX?: boolean;
      indexAddress?: boolean;
    });
    readonly tip: Entry;
    readonly height: number;
    open(): Promise<void>;
    close(): Promise<void>;
    add(block: Block): Promise<Entry | null>;
    getEntry(height: number): Promise<Entry | null>;
    on(event: 'connect' | 'disconnect', listener: (entry: Entry, block: Block) => Promise<void>): void;
  }
  class Mempool {
    constructor(options: { chain: Chain; memory: boolean });
    readonly map: ReadonlyMap<string, { readonly tx: Tx }>;
    open(): Promise<void>;
    close(): Promise<void>;
    /** Returns the missing parents of an orphan, or null if it is in the pool. Throws on a refusal. */
    addTX(tx: Tx): Promise<readonly string[] | null>;
    _addBlock(entry: Entry, txs: readonly Tx[]): Promise<void>;
    reset(): Promise<void>;
    on(event: 'tx', listener: (tx: Tx) => void): void;
    on(event: 'error', listener: (error: Error) => void): void;
  }
  class Miner {
    constructor(options: { chain: Chain; mempool: Mempool });
    open(): Promise<void>;
    close(): Promise<void>;
    createJob(
      tip: Entry,
      address: Address,
    ): Promise<{ attempt: Template; mineAsync(): Promise<Block | null> }>;
  }
  type Address = { readonly hash: Buffer };
  const bcoin: {
    readonly Chain: typeof Chain;
    readonly Mempool: typeof Mempool;
    readonly Miner: typeof Miner;
    readonly Network: { get(name: 'regtest'): { readonly deploys: readonly object[] } };
    readonly Address: { fromWitnessPubkeyhash(hash: Buffer): Address };
    readonly TX: { fromRaw(raw: Buffer): Tx };
  };

  export type { Block, Chain, Entry, Mempool, Miner, Tx };
  export default bcoin;
}

import { createRequire } from 'node:module';
import { hex } from '@scure/base';
import type Bcoin from 'bcoin';
import type { Tx } from 'bcoin';
import { type BitcoinIndex, createBitcoinIndex } from './bitcoin-index.ts';

/**
 * Blocks of a BIP 9 window. Regtest has 144. With 48, mining the first blocks of a world takes a third of the time.
 */
const WINDOW = 48;
/** BIP 9 activates segwit after three windows; spending it needs this height. */
const SEGWIT_HEIGHT = 3 * WINDOW;

const SECONDS_PER_BLOCK = 600;

export interface BitcoinNode {
  readonly index: BitcoinIndex;
  height(): number;
  blockHash(height: number): Promise<string | null>;
  /** Mines blocks with the transactions of the memory pool. */
  mine(blocks: number): Promise<void>;
  /**
   * Replaces the last `depth` blocks by a longer empty branch. Their transactions go back into the memory pool,
   * except those in `drop` and their dependents.
   */
  reorg(depth: number, drop?: readonly string[]): Promise<void>;
  /** Adds a raw transaction to the memory pool and returns its id; throws with the node's reason. */
  broadcast(raw: string): Promise<string>;
  close(): Promise<void>;
}

function load(): typeof Bcoin {
  // bcoin's native parts are not built here, and it calls a deprecated constant while it loads.
  process.env.NODE_BACKEND = 'js';
  const before = process.noDeprecation;
  process.noDeprecation = true;
  try {
    return createRequire(import.meta.url)('bcoin') as typeof Bcoin;
  } finally {
    process.noDeprecation = before;
  }
}

/** Starts a regtest full node in memory whose coinbases pay this public key hash; segwit is active when it returns. */
export async function startBitcoinNode({
  coinbaseKeyHash,
  now = Date.now,
}: {
  readonly coinbaseKeyHash: Uint8Array;
  /** Block times, Unix milliseconds. */
  readonly now?: () => number;
}): Promise<BitcoinNode> {
  const bcoin = load();
  for (const deployment of bcoin.Network.get('regtest').deploys)
    Object.assign(deployment, { window: WINDOW, threshold: (WINDOW * 3) / 4 });
  const chain = new bcoin.Chain({ network: 'regtest', memory: true });
  const mempool = new bcoin.Mempool({ chain, memory: true });
  const miner = new bcoin.Miner({ chain, mempool });
  const index = createBitcoinIndex();
  const address = bcoin.Address.fromWitnessPubkeyhash(Buffer.from(coinbaseKeyHash));
  let removed: Tx[] = [];
  let queue: Promise<unknown> = Promise.resolve();

  const pooled = (): Set<string> => new Set([...mempool.map.values()].map(({ tx }) => tx.txid()));

  chain.on('connect', async (entry, block) => {
    index.connect(entry, block);
    await mempool._addBlock(entry, block.txs);
    const left = pooled();
    index.prune((txid) => left.has(txid));
  });
  chain.on('disconnect', async (_entry, block) => {
    index.disconnect(block);
    removed = [...block.txs.filter((tx) => !tx.isCoinbase()), ...removed];
  });
  mempool.on('tx', (tx) => index.add(tx));
  mempool.on('error', () => undefined);

  await chain.open();
  await mempool.open();
  await miner.open();

  async function mineOn(height: number | null, adjust: (template: { time: number }) => void): Promise<void> {
    const tip = height === null ? chain.tip : await chain.getEntry(height);
    if (tip === null) throw new Error(`no block at height ${height}`);
    const job = await miner.createJob(tip, address);
    adjust(job.attempt);
    const block = await job.mineAsync();
    if (block === null || (await chain.add(block)) === null) throw new Error('block refused');
  }

  async function mine(blocks: number): Promise<void> {
    for (let count = 0; count < blocks; count += 1)
      await mineOn(null, (template) => {
        // A block is younger than most of those before it, even if they were mined within one second.
        template.time = Math.max(Math.floor(now() / 1000), chain.tip.time + 1);
      });
  }

  async function reorg(depth: number, drop: readonly string[]): Promise<void> {
    if (depth < 1 || depth > chain.height - SEGWIT_HEIGHT) throw new Error('depth out of range');
    const waiting = [...mempool.map.values()].map(({ tx }) => tx);
    await mempool.reset();
    index.prune(() => false);
    removed = [];
    const fork = chain.height - depth;
    await branch(fork, depth + 1);
    for (const tx of [...removed, ...waiting])
      if (!drop.includes(tx.txid())) await mempool.addTX(tx).catch(() => undefined);
    const left = pooled();
    index.prune((txid) => left.has(txid));
  }

  // Blocks of a side branch are not on the main chain until it is longer, so each names its own parent.
  async function branch(fork: number, blocks: number): Promise<void> {
    let parent = await chain.getEntry(fork);
    for (let count = 0; count < blocks; count += 1) {
      if (parent === null) throw new Error('lost the branch');
      const job = await miner.createJob(parent, address);
      const block = await job.mineAsync();
      parent = block === null ? null : await chain.add(block);
    }
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  }

  // The first blocks are old enough that block times end at the present instead of the future.
  let time = Math.floor(now() / 1000) - (SEGWIT_HEIGHT + 10) * SECONDS_PER_BLOCK;
  for (let count = 0; count < SEGWIT_HEIGHT + 2; count += 1) {
    time += SECONDS_PER_BLOCK;
    await mineOn(null, (template) => {
      template.time = time;
    });
  }

  return {
    index,
    height: () => chain.height,
    blockHash: async (height) => (await chain.getEntry(height))?.rhash() ?? null,
    mine: (blocks) => inTurn(() => mine(blocks)),
    reorg: (depth, drop = []) => inTurn(() => reorg(depth, drop)),
    broadcast: (raw) =>
      inTurn(async () => {
        const tx = bcoin.TX.fromRaw(Buffer.from(hex.decode(raw)));
        const missing = await mempool.addTX(tx);
        if (missing !== null) throw new Error('bad-txns-inputs-missingorspent');
        return tx.txid();
      }),
    async close() {
      await queue;
      await miner.close();
      await mempool.close();
      await chain.close();
    },
  };
}

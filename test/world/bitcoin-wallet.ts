import { hex } from '@scure/base';
import { Address, NETWORK, OutScript, Transaction } from '@scure/btc-signer';
import type { BitcoinNode } from './bitcoin-node.ts';
import type { BitcoinKey } from './keys.ts';

const FEE_SATS = 2000n;
/** More than the 31 virtual bytes of an output, because the minimum fee rate is one sat per byte. */
const OUTPUT_FEE_SATS = 40n;
const COINBASE_MATURITY = 100;

export interface Payment {
  /** Mainnet address text; the world's regtest chain uses the same scripts. */
  readonly address: string;
  readonly sats: bigint;
}

const scripts = new Map<string, string>();

/** The output script of a mainnet address, hex; throws for any other text. */
export function scriptOf(address: string): string {
  const script = scripts.get(address) ?? hex.encode(OutScript.encode(Address(NETWORK).decode(address)));
  scripts.set(address, script);
  return script;
}

interface Coin {
  readonly txid: string;
  readonly vout: number;
  readonly sats: bigint;
}

// Only confirmed, mature coins that are unspent also in the memory pool, so that a reorganization needs no
// bookkeeping here.
function spendableCoins(node: BitcoinNode, script: string): Coin[] {
  const newest = node.height() - COINBASE_MATURITY;
  return node.index.byScript(script).flatMap((tx) => {
    if (tx.block === null || (tx.inputs[0]?.previous === null && tx.block.height > newest)) return [];
    return tx.outputs.flatMap((output, vout) =>
      output.script === script && node.index.spender(tx.txid, vout) === null
        ? [{ txid: tx.txid, vout, sats: BigInt(output.sats) }]
        : [],
    );
  });
}

/** The newest payment on each node. The node marks the coin that a payment spends only after its broadcast. */
const newest = new WeakMap<BitcoinNode, Promise<unknown>>();

/**
 * Signs and broadcasts one transaction from a P2WPKH key with these outputs in order; returns its id.
 * Payments run in turn, so that no two spend the same coin.
 */
export function payBitcoin(
  node: BitcoinNode,
  key: BitcoinKey,
  payments: readonly Payment[],
): Promise<string> {
  const paid = (newest.get(node) ?? Promise.resolve()).then(() => pay(node, key, payments));
  newest.set(
    node,
    paid.catch(() => undefined),
  );
  return paid;
}

async function pay(node: BitcoinNode, key: BitcoinKey, payments: readonly Payment[]): Promise<string> {
  const outputFees = OUTPUT_FEE_SATS * BigInt(payments.length);
  const fee = outputFees > FEE_SATS ? outputFees : FEE_SATS;
  const total = payments.reduce((sum, { sats }) => sum + sats, fee);
  const coin = spendableCoins(node, hex.encode(key.script)).findLast(({ sats }) => sats >= total);
  if (coin === undefined) throw new Error('the world has no coin of that amount left');
  const tx = new Transaction();
  tx.addInput({ txid: coin.txid, index: coin.vout, witnessUtxo: { script: key.script, amount: coin.sats } });
  for (const { address, sats } of payments) tx.addOutputAddress(address, sats, NETWORK);
  if (coin.sats - total > 1000n) tx.addOutput({ script: key.script, amount: coin.sats - total });
  tx.sign(key.privateKey);
  tx.finalize();
  return node.broadcast(tx.hex);
}

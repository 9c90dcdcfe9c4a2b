import { hex } from '@scure/base';
import { Address, NETWORK, OutScript } from '@scure/btc-signer';
import type { IndexedOutput, IndexedTx, TransactionIndex } from './bitcoin-index.ts';

const TYPES: Record<string, string> = {
  pk: 'p2pk',
  pkh: 'p2pkh',
  sh: 'p2sh',
  wpkh: 'v0_p2wpkh',
  wsh: 'v0_p2wsh',
  tr: 'v1_p2tr',
};

const places = new Map<string, Record<string, unknown>>();

/** An output with its script; the address, in mainnet text, is absent where the script has none. */
function showOutput({ script, sats }: IndexedOutput): Record<string, unknown> {
  const place = places.get(script) ?? placeOf(script);
  places.set(script, place);
  return { ...place, value: sats };
}

function placeOf(script: string): Record<string, unknown> {
  if (script.startsWith('6a')) return { scriptpubkey: script, scriptpubkey_type: 'op_return' };
  const out = OutScript.decode(hex.decode(script));
  const type = TYPES[out.type] ?? 'unknown';
  const shown = { scriptpubkey: script, scriptpubkey_type: type };
  if (type === 'unknown' || type === 'p2pk') return shown;
  return { ...shown, scriptpubkey_address: Address(NETWORK).encode(out) };
}

/** `status` of a transaction: the block keys are absent, not null, while it is unconfirmed. */
function showStatus(tx: IndexedTx): Record<string, unknown> {
  if (tx.block === null) return { confirmed: false };
  const { height, hash, time } = tx.block;
  return { confirmed: true, block_height: height, block_hash: hash, block_time: time };
}

export function showTransaction(index: TransactionIndex, tx: IndexedTx): Record<string, unknown> {
  const spent = tx.inputs.map((input) => index.prevout(input));
  const paidIn = spent.reduce((sum, output) => sum + (output?.sats ?? 0), 0);
  const paidOut = tx.outputs.reduce((sum, output) => sum + output.sats, 0);
  return {
    txid: tx.txid,
    version: tx.version,
    locktime: tx.locktime,
    vin: tx.inputs.map((input, vin) => {
      const prevout = spent[vin] ?? null;
      return {
        txid: input.previous?.txid ?? '0'.repeat(64),
        vout: input.previous?.vout ?? 0xffffffff,
        prevout: prevout === null ? null : showOutput(prevout),
        scriptsig: input.script,
        ...(input.witness.length === 0 ? {} : { witness: input.witness }),
        is_coinbase: input.previous === null,
        sequence: input.sequence,
      };
    }),
    vout: tx.outputs.map(showOutput),
    size: tx.size,
    weight: tx.weight,
    fee: tx.inputs[0]?.previous === null ? 0 : paidIn - paidOut,
    status: showStatus(tx),
  };
}

/** The two counters of `/address/:address` over these transactions. */
export function addressStats(
  index: TransactionIndex,
  txs: readonly IndexedTx[],
  script: string,
): Record<string, number> {
  const stats = { funded_txo_count: 0, funded_txo_sum: 0, spent_txo_count: 0, spent_txo_sum: 0 };
  for (const tx of txs) {
    for (const output of tx.outputs) {
      if (output.script !== script) continue;
      stats.funded_txo_count += 1;
      stats.funded_txo_sum += output.sats;
    }
    for (const input of tx.inputs) {
      const spent = index.prevout(input);
      if (spent?.script !== script) continue;
      stats.spent_txo_count += 1;
      stats.spent_txo_sum += spent.sats;
    }
  }
  return { ...stats, tx_count: txs.length };
}

/**
 * Decodes the effects of the reserve's messages from their bytes: a creation, a refund, a payout of a reward.
 */
import { getCompiledTransactionMessageDecoder } from '@solana/web3.js';
import { payoutMessage } from '../message-reader.ts';

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const SYSTEM_PROGRAM = '11111111111111111111111111111111';

export type Order = {
  /** The memo of a refund or payout; `mint:<address>` of a creation. */
  readonly intent: string;
  readonly memo: string | undefined;
  readonly to: string;
  readonly lamports: bigint;
  readonly blockhash: string;
};

/** Lamports that a creation leaves in its accounts. */
export const CREATION_RENT = 5_000_000n;

export function readOrder(bytes: Uint8Array): Order {
  const message = getCompiledTransactionMessageDecoder().decode(bytes);
  if (message.version !== 0) throw new Error('not version 0');
  const keys = message.staticAccounts.map(String);
  const blockhash = message.lifetimeToken;
  let memo: string | undefined;
  let transfer: { to: string; lamports: bigint } | undefined;
  for (const { programAddressIndex, accountIndices = [], data = new Uint8Array() } of message.instructions) {
    const program = keys[programAddressIndex];
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    if (program === MEMO_PROGRAM) memo = new TextDecoder().decode(data);
    if (program === SYSTEM_PROGRAM && view.getUint32(0, true) === 2)
      transfer = { to: keys[accountIndices[1] ?? -1] ?? '', lamports: view.getBigUint64(4, true) };
  }
  if (message.header.numSignerAccounts === 2) {
    const mint = keys[1] ?? '';
    return { intent: `mint:${mint}`, memo, to: mint, lamports: CREATION_RENT, blockhash };
  }
  if (memo === undefined) throw new Error('an order without a name');
  return { intent: memo, memo, to: keys[1] ?? '', lamports: 0n, ...transfer, blockhash };
}

/** The line of text that the chain model reads. */
export const orderLine = ({ intent, to, lamports, blockhash }: Order): Uint8Array =>
  payoutMessage({ id: intent, to, lamports, blockhash });

/** Decodes the effects of a payout's message from its bytes, as the chain would. */
import { type Address, getCompiledTransactionMessageDecoder } from '@solana/web3.js';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';

const ATA_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';

export type PayoutOrder = {
  readonly memo: string;
  readonly from: string;
  readonly receiver: string;
  readonly atoms: bigint;
  readonly decimals: number;
  readonly createsAccount: boolean;
  readonly blockhash: string;
  /** Micro-lamports per unit, and units. */
  readonly price: bigint;
  readonly units: number;
};

const known = new Map<string, string>();
/** The owner of an associated account: found by those whose transfers were ordered with its creation, or named before. */
export const nameReceiver = (owner: string, mint: string): void =>
  void known.set(findAta(owner, mint, TOKEN_PROGRAM), owner);

/** @throws Error for anything but one transfer with its memo, with or without the account's creation */
export function readPayout(bytes: Uint8Array): PayoutOrder {
  const message = getCompiledTransactionMessageDecoder().decode(bytes);
  if (message.version !== 0 || message.header.numSignerAccounts !== 1) throw new Error('not a payout');
  const keys: readonly Address[] = message.staticAccounts;
  let order: Partial<PayoutOrder> = { createsAccount: false, blockhash: message.lifetimeToken };
  for (const { programAddressIndex, accountIndices = [], data = new Uint8Array() } of message.instructions) {
    const accounts = accountIndices.map((index) => String(keys[index]));
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    switch (String(keys[programAddressIndex])) {
      case BUDGET_PROGRAM:
        if (data[0] === 2) order = { ...order, units: view.getUint32(1, true) };
        if (data[0] === 3) order = { ...order, price: view.getBigUint64(1, true) };
        break;
      case ATA_PROGRAM:
        order = { ...order, createsAccount: true };
        break;
      case TOKEN_PROGRAM: {
        const [, , destination = '', from = ''] = accounts;
        if (data[0] !== 12) throw new Error('not TransferChecked');
        const receiver = known.get(destination);
        if (!receiver) throw new Error(`${destination} has no known owner`);
        order = { ...order, from, receiver, atoms: view.getBigUint64(1, true), decimals: data[9] ?? -1 };
        break;
      }
      case MEMO_PROGRAM:
        order = { ...order, memo: new TextDecoder().decode(data) };
        break;
      default:
        throw new Error(`unknown program ${String(keys[programAddressIndex])}`);
    }
  }
  return order as PayoutOrder;
}

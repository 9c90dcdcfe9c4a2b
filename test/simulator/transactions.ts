/**
 * Transactions in the form that the model chain runs. Those of the reserve are decoded from their signed
 * bytes alone, so the model does not depend on the custodian's records.
 * @module
 */
import { base64 } from '@scure/base';
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/web3.js';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';

/** One effect of a transaction. Effects run in order; the first one that cannot run fails the transaction. */
export type Action =
  | { readonly type: 'pay'; readonly from: string; readonly to: string; readonly lamports: bigint }
  /** Opens an associated token account; does nothing when it exists. */
  | ({ readonly type: 'open'; readonly account: string; readonly payer: string } & TokenFacts)
  | { readonly type: 'close'; readonly account: string; readonly owner: string }
  | { readonly type: 'move'; readonly from: string; readonly to: string; readonly atoms: bigint }
  | { readonly type: 'mint'; readonly mint: string; readonly account: string; readonly atoms: bigint }
  | {
      readonly type: 'create';
      readonly mint: string;
      readonly payer: string;
      readonly lamports: bigint;
      readonly program: string;
      decimals: number;
    };

export type TokenFacts = { readonly owner: string; readonly mint: string; readonly program: string };

export type Transaction = {
  readonly signature: string;
  /** Signers first; the first one pays the fee. */
  readonly accounts: readonly string[];
  readonly signers: number;
  readonly fee: bigint;
  readonly actions: readonly Action[];
  readonly memo: string | null;
  /** Slot of the blockhash. Null: its sender signs it again until it has landed. */
  readonly born: number | null;
  /** False for a version that nodes refuse to show. */
  readonly readable: boolean;
};

const SIGNATURE_FEE = 5_000n;
const SYSTEM = '11111111111111111111111111111111';
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const ATA = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

const transactions = getTransactionDecoder();
const messages = getCompiledTransactionMessageDecoder();

/** @throws Error when the bytes are not a transaction, or do what no transaction of the reserve does */
export function readWire(wire: string): Transaction {
  const { messageBytes, signatures } = transactions.decode(base64.decode(wire));
  const message = messages.decode(messageBytes);
  if (message.version !== 0) throw new Error(`signed bytes have version ${message.version}`);
  const { staticAccounts: keys, instructions, header } = message;
  const [signature] = Object.values(signatures);
  const signers = header.numSignerAccounts;
  const key = (index: number | undefined): string => keys[index ?? -1] ?? 'none';
  const actions: Action[] = [];
  let memo: string | null = null;
  let units = 0n;
  let price = 0n;
  for (const { programAddressIndex, accountIndices = [], data = [] } of instructions) {
    const bytes = Buffer.from(data);
    const [a, b, c, d] = accountIndices.map(key);
    switch (key(programAddressIndex)) {
      case COMPUTE_BUDGET:
        if (bytes[0] === 2) units = BigInt(bytes.readUInt32LE(1));
        else price = bytes.readBigUInt64LE(1);
        break;
      case SYSTEM:
        actions.push(system(bytes, String(a), String(b)));
        break;
      case ATA:
        actions.push({
          type: 'open',
          payer: String(a),
          account: String(b),
          owner: String(c),
          mint: String(d),
          program: key(accountIndices[5]),
        });
        break;
      case TOKEN_PROGRAM:
      case TOKEN_2022_PROGRAM: {
        const action = token(bytes, String(a), String(b), String(c), actions);
        if (action) actions.push(action);
        break;
      }
      case MEMO:
        memo = bytes.toString('utf8');
    }
  }
  return {
    signature: encodeBase58(signature ?? new Uint8Array(64)),
    accounts: keys,
    signers,
    fee: SIGNATURE_FEE * BigInt(signers) + (units * price) / 1_000_000n,
    actions,
    memo,
    born: bornOf(message.lifetimeToken),
    readable: true,
  };
}

const births = new Map<string, number>();
const hashes = new Map<number, string>();

/** The hash of a slot's block: 32 bytes that contain the slot. */
export function blockhashOf(slot: number): string {
  const known = hashes.get(slot);
  if (known !== undefined) return known;
  const bytes = Buffer.alloc(32, 9);
  bytes.writeUInt32BE(slot, 28);
  const text = encodeBase58(bytes);
  hashes.set(slot, text);
  births.set(text, slot);
  return text;
}

/** The slot of a block; 0, which expired long ago, for an unknown hash. */
export const bornOf = (blockhash: string): number => births.get(blockhash) ?? 0;

/** System Transfer (2) and CreateAccount (0). */
function system(bytes: Buffer, from: string, to: string): Action {
  const lamports = bytes.readBigUInt64LE(4);
  if (bytes.readUInt32LE(0) === 2) return { type: 'pay', from, to, lamports };
  const program = encodeBase58(bytes.subarray(20, 52));
  return { type: 'create', mint: to, payer: from, lamports, program, decimals: 0 };
}

/** TransferChecked (12), MintToChecked (14); InitializeMint2 (20) completes the creation before it. */
function token(bytes: Buffer, a: string, b: string, c: string, before: Action[]): Action | undefined {
  if (bytes[0] === 12) return { type: 'move', from: a, to: c, atoms: bytes.readBigUInt64LE(1) };
  if (bytes[0] === 14) return { type: 'mint', mint: a, account: b, atoms: bytes.readBigUInt64LE(1) };
  const created = before.find((action) => action.type === 'create');
  if (bytes[0] === 20 && created) created.decimals = bytes[1] ?? 0;
  return undefined;
}

const text = new Map<string, string>();
/** The associated account. It is cached for the whole process, because its computation is slow. */
export function ataOf(owner: string, mint: string, program = TOKEN_PROGRAM): string {
  const name = `${owner} ${mint} ${program}`;
  const known = text.get(name) ?? findAta(owner, mint, program);
  text.set(name, known);
  return known;
}

/** 64 bytes in place of a signature: the same message always has the same one. */
export function signatureOf(message: Uint8Array): Uint8Array {
  let a = 0x811c9dc5;
  let b = 0x1b873593;
  for (const value of message) {
    a = Math.imul(a ^ value, 0x01000193);
    b = Math.imul(b ^ value, 0x85ebca6b) ^ (b >>> 13);
  }
  const signature = new Uint8Array(64).fill(7);
  const view = new DataView(signature.buffer);
  view.setUint32(0, a >>> 0);
  view.setUint32(4, b >>> 0);
  return signature;
}

/** Malicious responses of LI.FI, by name: fault `hostile` with that name as its value. */
import { SWAP_ENDPOINT_PROGRAM } from '../../src/bridges/lifi-chainflip.ts';
import { addressSeed } from '../../src/chain/solana/program-address.ts';
import {
  type Instruction,
  transferOf,
  type Unsigned,
  u32,
  u64,
  type VaultOrder,
  vaultSwapOf,
} from './lifi-transaction.ts';

/** A response under construction. */
export interface LifiDraft {
  readonly reserve: string;
  readonly thief: string;
  /** The thief's Bitcoin address. */
  readonly thiefBitcoin: string;
  readonly order: VaultOrder | null;
  unsigned: Unsigned;
  /** Members of the response that replace the honest ones. */
  over: Record<string, unknown>;
  /** `transactionRequest.data`, derived from the honest text. */
  data: (text: string) => unknown;
  bytes: (bytes: Uint8Array) => Uint8Array;
}

const SYSTEM_PROGRAM = '1'.repeat(32);
const LEG = 4;

const system = (discriminator: number, accounts: Instruction['accounts'], ...parts: Uint8Array[]) => ({
  program: SYSTEM_PROGRAM,
  accounts,
  data: Uint8Array.from([...u32(discriminator), ...parts.flatMap((part) => [...part])]),
});
const change = (d: LifiDraft, edit: (list: Instruction[]) => Instruction[]): void => {
  d.unsigned = { ...d.unsigned, instructions: edit([...d.unsigned.instructions]) };
};
const signer = (address: string) => ({ address, isSigner: true, isWritable: true });
const amountOf = ({ data }: Instruction): bigint =>
  new DataView(data.buffer, data.byteOffset).getBigUint64(4, true);

export const HOSTILE: Readonly<Record<string, (d: LifiDraft) => void>> = {
  /** One more transfer, to the thief. */
  drain: (d) => change(d, (list) => [...list, transferOf(d.reserve, d.thief, 1_000_000n)]),
  /** The exact amount, to the thief in place of the deposit address. */
  thief: (d) =>
    change(d, (list) =>
      list.map((one, at) => (at === LEG ? transferOf(d.reserve, d.thief, amountOf(one)) : one)),
    ),
  owner: (d) => change(d, (list) => [...list, system(1, [signer(d.reserve)], addressSeed(d.thief))]),
  nonce: (d) =>
    change(d, (list) => [system(4, [{ address: d.thief, isWritable: true }, signer(d.reserve)]), ...list]),
  priority: (d) =>
    change(d, (list) =>
      list.map((one, at) => (at === 1 ? { ...one, data: Uint8Array.from([3, ...u64(90_000_000n)]) } : one)),
    ),
  cosigner: (d) => {
    d.unsigned = { ...d.unsigned, otherSigners: [d.thief] };
  },
  /** Keys in a table that no node has. */
  table: (d) => {
    d.unsigned = { ...d.unsigned, version: 0, table: d.thief };
  },
  bundle: (d) => {
    d.data = (text) => [text, text];
  },
  version1: (d) => {
    d.unsigned = { ...d.unsigned, version: 0 };
    d.bytes = (bytes) => bytes.with(65, 0x81);
  },
  trailing: (d) => {
    d.bytes = (bytes) => Uint8Array.from([...bytes, 0]);
  },
  signed: (d) => {
    d.bytes = (bytes) => bytes.with(9, 1);
  },
  tool: (d) => {
    d.over = { ...d.over, tool: 'relaydepository' };
  },
  message: (d) => {
    d.over = { ...d.over, executionType: 'message' };
  },
  /** BTC to the thief, for the tool whose bytes contain the destination. */
  recipient: (d) => vaultSwap(d, { address: d.thiefBitcoin }),
  refund: (d) => vaultSwap(d, { refund: d.thief }),
  minimum: (d) => vaultSwap(d, { minimum: 1n }),
};

function vaultSwap(d: LifiDraft, edit: Partial<VaultOrder>): void {
  const { order } = d;
  if (!order) return;
  change(d, (list) =>
    list.map((one) => (one.program === SWAP_ENDPOINT_PROGRAM ? vaultSwapOf({ ...order, ...edit }) : one)),
  );
}

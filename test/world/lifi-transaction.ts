/** Transactions in the form of LI.FI's service: unsigned, with its own blockhash and keys in lookup tables. */
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { SWAP_ENDPOINT_PROGRAM, vaultSwapAccounts } from '../../src/bridges/lifi-chainflip.ts';
import type { DecodedTransaction } from '../../src/chain/solana/message.ts';
import { addressSeed } from '../../src/chain/solana/program-address.ts';

const SYSTEM_PROGRAM = '1'.repeat(32);
const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
const TRACKER_PROGRAM = '3i5JeuZuUxeKtVysUnwQNGerJP2bSMX9fTFfS4Nxe3Br';
const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';

export type Account = { address: string; isSigner?: boolean; isWritable?: boolean };
export type Instruction = { program: string; accounts: Account[]; data: Uint8Array };

export const u32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);
export const u64 = (value: bigint) => new Uint8Array(BigUint64Array.of(value).buffer);

export const transferOf = (from: string, to: string, amount: bigint): Instruction => ({
  program: SYSTEM_PROGRAM,
  accounts: [
    { address: from, isSigner: true, isWritable: true },
    { address: to, isWritable: true },
  ],
  data: concatBytes(u32(2), u64(amount)),
});

export const budget = (opcode: number, value: Uint8Array): Instruction => ({
  program: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: concatBytes(Uint8Array.of(opcode), value),
});

/** @param notes the tracker's account of an epoch; `id` are the 8 bytes of the quote's transaction id */
export const tracked = (notes: string, id: readonly number[]): Instruction => ({
  program: TRACKER_PROGRAM,
  accounts: [{ address: CLOCK_SYSVAR }, { address: notes }],
  data: Uint8Array.from([0, ...id]),
});

export type VaultOrder = {
  from: string;
  amount: bigint;
  /** The destination of the BTC. */
  address: string;
  refund: string;
  minimum: bigint;
  seed: Uint8Array;
  retry?: number;
  brokerBps?: number;
  boost?: number;
  chain?: number;
  token?: number;
};

function vaultSwapData(o: VaultOrder): Uint8Array {
  const price = ((o.minimum << 128n) + o.amount - 1n) / o.amount;
  const priceBytes = concatBytes(
    ...[0n, 64n, 128n, 192n].map((shift) => u64(BigInt.asUintN(64, price >> shift))),
  );
  const parameters = concatBytes(
    Uint8Array.of(1),
    u32(o.retry ?? 100),
    addressSeed(o.refund),
    priceBytes,
    Uint8Array.of(0, 0, 0, o.boost ?? 0),
    new Uint8Array(32).fill(0x22),
    Uint8Array.of((o.brokerBps ?? 15) & 255, (o.brokerBps ?? 15) >> 8, 0),
  );
  const address = utf8ToBytes(o.address);
  return concatBytes(
    hexToBytes('a3265ce2f3698dc4'),
    u64(o.amount),
    u32(o.chain ?? 3),
    u32(address.length),
    address,
    u32(o.token ?? 5),
    Uint8Array.of(0),
    u32(parameters.length),
    parameters,
    u32(32),
    o.seed,
  );
}

/** Chainflip's `x_swap_native`. */
export const vaultSwapOf = (order: VaultOrder): Instruction => ({
  program: SWAP_ENDPOINT_PROGRAM,
  accounts: vaultSwapAccounts(order.from, order.seed).map((address, place) => ({
    address,
    isSigner: place === 2,
    isWritable: place > 0 && place < 5,
  })),
  data: vaultSwapData(order),
});

export type Unsigned = {
  readonly payer: string;
  readonly otherSigners: readonly string[];
  readonly version: 'legacy' | 0;
  readonly instructions: readonly Instruction[];
  readonly blockhash: string;
  readonly table: string;
  /** Keys of the instructions that are in the table. */
  readonly inTable: readonly string[];
};

/** Keys in the order of the format, and those of the table in the order of the table. */
function keysOf({ payer, otherSigners, instructions, inTable }: Unsigned) {
  const uses = instructions.flatMap(({ accounts }) => accounts);
  const programs = instructions.map(({ program }) => program);
  const isWritable = (address: string) => uses.some((use) => use.address === address && use.isWritable);
  const signers = [payer, ...otherSigners];
  const all = [...new Set([...uses.map(({ address }) => address), ...programs])].filter(
    (key) => !signers.includes(key),
  );
  const tabled = all.filter((key) => inTable.includes(key) && !programs.includes(key));
  const rest = all.filter((key) => !tabled.includes(key));
  const readonly = rest.filter((key) => !isWritable(key));
  return {
    signers,
    tabled,
    isWritable,
    readonly,
    keys: [...signers, ...rest.filter(isWritable), ...readonly],
  };
}

/** The default keys of the table, in order. */
export const tableEntries = (unsigned: Unsigned): string[] => keysOf(unsigned).tabled;

/** @param entries current keys of the table; by default those that this transaction uses */
export function compileTransaction(
  unsigned: Unsigned,
  entries: readonly string[] = tableEntries(unsigned),
): DecodedTransaction {
  const { signers, tabled, isWritable, readonly, keys } = keysOf(unsigned);
  const [writableOnes, readonlyOnes] = [tabled.filter(isWritable), tabled.filter((key) => !isWritable(key))];
  const order = [...keys, ...writableOnes, ...readonlyOnes];
  const places = (list: readonly string[]) => list.map((key) => entries.indexOf(key));
  return {
    version: unsigned.version,
    signatures: signers.map(() => new Uint8Array(64)),
    requiredSignatures: signers.length,
    readonlySigned: 0,
    readonlyUnsigned: readonly.length,
    keys,
    blockhash: unsigned.blockhash,
    instructions: unsigned.instructions.map(({ program, accounts, data }) => ({
      program: order.indexOf(program),
      accounts: accounts.map(({ address }) => order.indexOf(address)),
      data,
    })),
    tables:
      tabled.length === 0
        ? []
        : [{ table: unsigned.table, writable: places(writableOnes), readonly: places(readonlyOnes) }],
  };
}

export function tableData(entries: readonly string[]): Uint8Array {
  const header = new Uint8Array(56);
  header[0] = 1;
  header.fill(0xff, 4, 12);
  return concatBytes(header, ...entries.map(addressSeed));
}

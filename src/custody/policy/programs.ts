/**
 * The programs that a swap may call: the chain's own System, ComputeBudget, Token and AssociatedToken, and two
 * programs of the bridges.
 * @see solana-program/{system,token,token-2022,associated-token-account} interface/src/instruction.rs
 * @see agave compute-budget-interface src/lib.rs
 * @see lifinance/solana-programs; data is a zero byte and the 8 bytes of `transactionId`
 * @module
 */
import { hexToBytes } from '@noble/hashes/utils.js';
import { decodeVaultSwap, judgeVaultSwap } from '../../bridges/lifi-chainflip.ts';
import { createByteReader } from '../../chain/solana/byte-reader.ts';
import { programAddress } from '../../chain/solana/program-address.ts';
import { findAta } from '../../chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../chain/solana/token-program.ts';
import type { Sats } from '../../core/amount.ts';
import type { PolicyReason } from './refusal.ts';
import {
  allowed,
  denied,
  type Effect,
  type Judgement,
  type ResolvedInstruction,
} from './resolved-instructions.ts';
import type { PolicyTerms } from './terms.ts';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';

export const SYSTEM_TRANSFER = 2;
const TRANSFER_BYTES = 12;

/** By discriminator; a missing number is unknown. */
const SYSTEM_DENIED: Readonly<Record<number, PolicyReason>> = {
  0: 'system_create_account',
  1: 'system_owner_change',
  3: 'system_create_account',
  4: 'nonce_instruction',
  5: 'nonce_instruction',
  6: 'nonce_instruction',
  7: 'nonce_instruction',
  8: 'system_allocate',
  9: 'system_allocate',
  10: 'system_owner_change',
  11: 'system_seed_transfer',
  12: 'nonce_instruction',
  13: 'system_create_account',
};

/**
 * S6 and S9: only a plain transfer out of the reserve. A balance check does not show a change of owner, and a
 * transaction with a nonce never expires. The discriminator is a u32, little-endian.
 */
export function judgeSystem({ accounts, data }: ResolvedInstruction, reserveAddress: string): Judgement {
  if (data.length < 4) return denied('system_malformed');
  const read = createByteReader(data);
  const discriminator = read.u32();
  if (discriminator !== SYSTEM_TRANSFER) return denied(SYSTEM_DENIED[discriminator] ?? 'system_unknown');
  const [from, to] = accounts;
  if (data.length !== TRANSFER_BYTES || accounts.length !== 2 || !from || !to)
    return denied('system_malformed');
  if (from.address !== reserveAddress) return denied('system_source');
  const lamports = read.u64();
  if (lamports === 0n || !to.isWritable) return denied('system_malformed');
  return allowed({ kind: 'transfer', to: to.address, lamports }, [0]);
}

export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';

/** Maximum compute units of a transaction, and the assumed value without a setting. */
const MAX_UNITS = 1_400_000n;

const FIELDS = {
  1: { field: 'heap', bytes: 5, maximum: 256n * 1_024n },
  2: { field: 'units', bytes: 5, maximum: MAX_UNITS },
  3: { field: 'price', bytes: 9, maximum: 0xffff_ffff_ffff_ffffn },
  4: { field: 'size', bytes: 5, maximum: 64n * 1_024n * 1_024n },
} as const;

/** S12: each setting in its range; `priorityFee` refuses a repeated setting. */
export function judgeComputeBudget({ accounts, data }: ResolvedInstruction): Judgement {
  const known =
    data[0] === 1 || data[0] === 2 || data[0] === 3 || data[0] === 4 ? FIELDS[data[0]] : undefined;
  if (!known) return denied('compute_unknown');
  if (data.length !== known.bytes || accounts.length > 0) return denied('compute_malformed');
  const read = createByteReader(data, 1);
  const value = known.bytes === 9 ? read.u64() : BigInt(read.u32());
  if (value > known.maximum) return denied('compute_range');
  return allowed({ kind: 'budget', field: known.field, value });
}

/** Priority fee in lamports, rounded up like the chain does; undefined if a setting occurs twice. */
export function priorityFee(effects: readonly Effect[]): bigint | undefined {
  const settings = effects.filter((effect) => effect.kind === 'budget');
  if (new Set(settings.map(({ field }) => field)).size !== settings.length) return undefined;
  const settingOf = (name: string) => settings.find(({ field }) => field === name)?.value;
  return ((settingOf('units') ?? MAX_UNITS) * (settingOf('price') ?? 0n) + 999_999n) / 1_000_000n;
}

export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

const TOKEN_TRANSFER = 3;
const CLOSE_ACCOUNT = 9;
const TRANSFER_CHECKED = 12;
const SYNC_NATIVE = 17;

const TOKEN_DENIED: readonly (readonly [PolicyReason, readonly number[]])[] = [
  ['token_initialize', [0, 1, 2, 16, 18, 19, 20, 22]],
  ['token_delegate', [4, 5, 13]],
  ['token_authority', [6]],
  ['token_mint', [7, 14]],
  ['token_burn', [8, 15]],
  ['token_freeze', [10, 11]],
  ['token_query', [21, 23, 24]],
  ['token_extension', [25, 26, 27, 28, 30, 31, 32, 33, 34, 35, 36, 37, 39, 40, 41, 42, 43, 44, 46]],
  ['token_reallocate', [29]],
  ['token_lamports', [38, 45]],
  ['token_batch', [255]],
];
const REASONS: ReadonlyMap<number, PolicyReason> = new Map(
  TOKEN_DENIED.flatMap(([reason, opcodes]) => opcodes.map((opcode) => [opcode, reason] as const)),
);

/** Number of accounts and bytes of the four allowed instructions. */
const SHAPES: ReadonlyMap<number, { accounts: number; bytes: number }> = new Map([
  [TOKEN_TRANSFER, { accounts: 3, bytes: 9 }],
  [CLOSE_ACCOUNT, { accounts: 3, bytes: 1 }],
  [TRANSFER_CHECKED, { accounts: 4, bytes: 10 }],
  [SYNC_NATIVE, { accounts: 1, bytes: 1 }],
]);

/** The only token account that a swap may open, use and close. */
export const ownWrappedSol = (reserveAddress: string): string =>
  findAta(reserveAddress, WRAPPED_SOL, TOKEN_PROGRAM);

/**
 * S10: a swap may not touch tokens, except our own temporary account of wrapped SOL. A delegate could drain the
 * treasury later, and Batch hides any other instruction inside itself. The discriminator is the first byte.
 */
export function judgeToken(
  { program, accounts, data }: ResolvedInstruction,
  reserveAddress: string,
): Judgement {
  const opcode = data[0] ?? -1;
  const shape = SHAPES.get(opcode);
  if (!shape) return denied(REASONS.get(opcode) ?? 'token_unknown');
  if (accounts.length !== shape.accounts || data.length !== shape.bytes) return denied('token_malformed');
  const [account, second] = accounts;
  if (program !== TOKEN_PROGRAM || account?.address !== ownWrappedSol(reserveAddress)) {
    return denied('token_not_own_wsol');
  }
  if (opcode === SYNC_NATIVE) return allowed({ kind: 'wrapped' });
  if (opcode === CLOSE_ACCOUNT && second?.address !== reserveAddress)
    return denied('token_close_destination');
  return allowed({ kind: 'wrapped' }, opcode === CLOSE_ACCOUNT ? [1, 2] : [accounts.length - 1]);
}

export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

const CREATE_IDEMPOTENT = 1;
const RECOVER_NESTED = 2;

/**
 * S11: a transaction may open only the reserve's own account of wrapped SOL; the rent of any other account could be
 * withdrawn. Empty data means Create.
 */
export function judgeAssociatedToken(
  { accounts, data }: ResolvedInstruction,
  reserveAddress: string,
): Judgement {
  const opcode = data[0] ?? 0;
  if (opcode === RECOVER_NESTED) return denied('ata_recover');
  if (opcode > CREATE_IDEMPOTENT) return denied('ata_unknown');
  const [payer, account, owner, mint, system, token] = accounts.map(({ address }) => address);
  if (data.length > 1 || accounts.length !== 6) return denied('ata_malformed');
  if (payer !== reserveAddress || owner !== reserveAddress) return denied('ata_owner');
  const isOwn =
    mint === WRAPPED_SOL &&
    account === ownWrappedSol(reserveAddress) &&
    system === SYSTEM_PROGRAM &&
    token === TOKEN_PROGRAM;
  return isOwn ? allowed({ kind: 'wrapped' }, [0, 2]) : denied('ata_account');
}

/** LI.FI's program that records the quote's id. It ties the bytes to the quote and receives no authority. */
export const TRACKER_PROGRAM = '3i5JeuZuUxeKtVysUnwQNGerJP2bSMX9fTFfS4Nxe3Br';
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';

/** The account that stores an epoch's records of the tracker. */
export function trackerAccount(epoch: bigint): string {
  const seed = new Uint8Array(8);
  new DataView(seed.buffer).setBigUint64(0, epoch, true);
  return programAddress(TRACKER_PROGRAM, [seed]);
}

/**
 * @param transactionId `0x` and 16 hex digits, of the quote
 * @param epoch         Solana's current epoch; the program accepts this and the previous one
 */
export function judgeTracker(
  { accounts, data }: ResolvedInstruction,
  { transactionId, epoch }: { transactionId: string; epoch: bigint },
): Judgement {
  if (data.length !== 9 || data[0] !== 0 || accounts.length !== 2) return denied('tracker_malformed');
  const [clock, notes] = accounts.map(({ address }) => address);
  const own = [trackerAccount(epoch), ...(epoch > 0n ? [trackerAccount(epoch - 1n)] : [])];
  if (clock !== CLOCK_SYSVAR || notes === undefined || !own.includes(notes)) return denied('tracker_account');
  const id = hexToBytes(transactionId.slice(2));
  return id.length === 8 && id.every((byte, index) => byte === data[index + 1])
    ? allowed({ kind: 'tracker' })
    : denied('tracker_id');
}

/** Index of the sender among the accounts of Chainflip's endpoint. */
const FROM = 2;

/** S19 for `chainflip`: the instruction contains the whole order, which is decoded and compared here. */
export function judgeChainflip(
  { accounts, data }: ResolvedInstruction,
  terms: PolicyTerms,
  { minimumSats, expectedSats }: { readonly minimumSats: Sats; readonly expectedSats: Sats },
): Judgement {
  const decoded = decodeVaultSwap(data);
  if (!decoded.ok) return denied(decoded.reason);
  const addresses = accounts.map(({ address }) => address);
  const verdict = judgeVaultSwap(decoded.swap, addresses, {
    reserveAddress: terms.reserveAddress,
    bitcoinAddress: terms.bitcoinAddress,
    minimumSats,
    expectedSats,
    maxFeesBps: terms.limits.maxBrokerBps,
  });
  if (!verdict.ok) return denied(verdict.reason);
  // The reserve's key may occur in the data only as the refund address.
  return allowed({ kind: 'vault_swap', swap: decoded.swap, accounts: addresses }, [FROM], 1);
}

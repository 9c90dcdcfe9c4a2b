/**
 * The one model of the bodies of Solana nodes: errors, statuses, lists, transactions, accounts. The kit, the simulator and
 * the world build every body here. Production responses in test/fixtures/recorded/solana pin it.
 * @see https://solana.com/docs/rpc
 * @module
 */
import { base64 } from '@scure/base';
import type { ChainTransaction, Commitment, TokenRow } from '../../src/providers/solana-rpc.ts';

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** One error of each form in which nodes show why a transaction failed (`TransactionError` of anza-xyz/agave). */
export const TRANSACTION_ERRORS = {
  custom: { InstructionError: [2, { Custom: 1 }] },
  named: { InstructionError: [0, 'InvalidAccountData'] },
  text: 'AccountInUse',
  numbered: { DuplicateInstruction: 3 },
  indexed: { InsufficientFundsForRent: { account_index: 1 } },
} as const;

const ERRORS = Object.values(TRANSACTION_ERRORS);

/** The error of a failed transaction of the simulator: every node shows the same, and each form occurs. */
export const errorOf = (signature: string): unknown => ERRORS[signature.charCodeAt(5) % ERRORS.length];

/** Errors of calls (`custom_error.rs` of anza-xyz/agave). */
export const RPC_ERRORS = {
  notJson: { code: -32_700, message: 'Parse error' },
  invalidRequest: { code: -32_600, message: 'Parse error' },
  methodNotFound: { code: -32_601, message: 'Method not found' },
  invalidParams: (message: string) => ({ code: -32_602, message }),
  internal: (message: string) => ({ code: -32_603, message }),
  invalidSignature: { code: -32_003, message: 'Transaction signature verification failure' },
  rateLimited: { code: -32_429, message: 'rate limited' },
  unhealthy: { code: -32_005, message: 'Node is behind by 42 slots', data: { numSlotsBehind: 42 } },
  behind: (slot: number) => ({
    code: -32_016,
    message: 'Minimum context slot has not been reached',
    data: { contextSlot: slot },
  }),
  unsupportedVersion: (version: number) => ({
    code: -32_015,
    message: `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  }),
  /** The error of the simulation before a send. */
  preflight: (err: keyof typeof PREFLIGHT_ERRORS) => ({
    code: -32_002,
    message: `Transaction simulation failed: ${PREFLIGHT_ERRORS[err]}`,
    data: { err, ...EMPTY_SIMULATION },
  }),
} as const;

const PREFLIGHT_ERRORS = {
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
} as const;

export const EMPTY_SIMULATION = {
  accounts: null,
  innerInstructions: null,
  loadedAccountsDataSize: 0,
  logs: [],
  returnData: null,
  unitsConsumed: 0,
} as const;

export type RpcResponse = { readonly result: unknown } | { readonly error: RpcError };

export const envelope = (response: RpcResponse, id: unknown = 1) => ({ jsonrpc: '2.0', id, ...response });

export const inContext = (value: unknown, slot: number) => ({
  context: { apiVersion: '4.1.2', slot },
  value,
});

export const epochBody = (slot: number, blockHeight: number, slotsInEpoch = 432_000) => ({
  absoluteSlot: slot,
  blockHeight,
  epoch: Math.floor(slot / slotsInEpoch),
  slotIndex: slot % slotsInEpoch,
  slotsInEpoch,
  transactionCount: slot,
});

/** What a list and a status show of a transaction. */
export interface Shown {
  readonly signature: string;
  readonly slot: number;
  /** Unix seconds. */
  readonly blockTime: number | null;
  readonly err: unknown;
  /** `[length] text` of its memo instructions. */
  readonly memo: string | null;
}

/** @param head the node's newest slot */
export const statusBody = (
  { slot, err }: { readonly slot: number; readonly err: unknown },
  commitment: Commitment,
  head: number,
) => ({
  slot,
  confirmations: commitment === 'finalized' ? null : head - slot,
  err,
  status: err === null ? { Ok: null } : { Err: err },
  confirmationStatus: commitment,
});

export const listedBody = ({ signature, slot, err, memo, blockTime }: Shown, commitment: Commitment) => ({
  signature,
  slot,
  err,
  memo,
  blockTime,
  confirmationStatus: commitment,
});

/** A page of a list of signatures, newest first. A node without the transaction `before` lists nothing. */
export function pageOf<Row extends { readonly signature: string }>(
  list: readonly Row[],
  page: { readonly limit?: unknown; readonly before?: unknown },
): readonly Row[] {
  const from = list.findIndex(({ signature }) => signature === page.before) + 1;
  if (from === 0 && typeof page.before === 'string') return [];
  return list.slice(from, from + Number(page.limit ?? 1_000));
}

const RICH = 10n ** 12n;

/** What a transaction did, as the client reads it: the lamports that each account gains or loses, the fee included. */
export const chainTransaction = (
  signature: string,
  changes: Readonly<Record<string, bigint>> = {},
  over: Partial<ChainTransaction> = {},
): ChainTransaction => ({
  signature,
  slot: 1n,
  blockTime: 1_790_000_000,
  failed: false,
  fee: 5_000n,
  accounts: Object.keys(changes),
  signers: Object.keys(changes).slice(0, 1),
  preLamports: Object.values(changes).map(() => RICH),
  postLamports: Object.values(changes).map((change) => RICH + change),
  preTokens: [],
  postTokens: [],
  ...over,
});

const tokenBalances = (rows: readonly TokenRow[] | null, accounts: readonly string[]) =>
  rows?.map(({ account, mint, owner, program, atoms, decimals }) => ({
    accountIndex: accounts.indexOf(account),
    mint,
    owner,
    programId: program,
    uiTokenAmount: tokenAmountBody(atoms, decimals),
  })) ?? null;

/**
 * A transaction with these effects, as `getTransaction` shows it. Accounts that only its token rows name come from a
 * lookup table.
 */
export function transactionBody(
  transaction: ChainTransaction,
  err: unknown = transaction.failed ? TRANSACTION_ERRORS.custom : null,
  version: 'legacy' | number = 0,
) {
  const { signature, slot, blockTime, fee, accounts, signers, preTokens, postTokens } = transaction;
  const named = [...(preTokens ?? []), ...(postTokens ?? [])].map(({ account }) => account);
  const loaded = [...new Set(named)].filter((account) => !accounts.includes(account));
  const all = [...accounts, ...loaded];
  const lamports = (balances: readonly bigint[]) => [...balances.map(Number), ...loaded.map(() => 0)];
  return {
    blockTime,
    slot: Number(slot),
    version,
    meta: {
      computeUnitsConsumed: 150,
      costUnits: 870,
      err,
      fee: Number(fee),
      innerInstructions: [],
      loadedAddresses: { readonly: [], writable: loaded },
      logMessages: ['Program 11111111111111111111111111111111 success'],
      preBalances: lamports(transaction.preLamports),
      postBalances: lamports(transaction.postLamports),
      preTokenBalances: tokenBalances(preTokens, all),
      postTokenBalances: tokenBalances(postTokens, all),
      rewards: null,
      status: err === null ? { Ok: null } : { Err: err },
    },
    transaction: {
      message: {
        accountKeys: accounts,
        header: {
          numReadonlySignedAccounts: 0,
          numReadonlyUnsignedAccounts: 1,
          numRequiredSignatures: signers.length,
        },
        instructions: [],
        recentBlockhash: '11111111111111111111111111111111',
      },
      signatures: [signature, ...signers.slice(1).map((signer) => `${signature} of ${signer}`)],
    },
  };
}

/** An account as the chain has it. */
export interface AccountState {
  readonly lamports: number;
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Uint8Array;
}

/** The part of an account's data that a node sends; `space` stays the size of all of it. */
export interface DataSlice {
  readonly offset: number;
  readonly length: number;
}

const ALL: DataSlice = { offset: 0, length: Number.POSITIVE_INFINITY };

/** `rentEpoch` is u64::MAX in every real account. A server writes that literal, which no number can represent. */
export const accountBody = (
  { data, executable, lamports, owner }: AccountState,
  { offset, length }: DataSlice = ALL,
) => ({
  data: [base64.encode(data.subarray(offset, offset + length)), 'base64'],
  executable,
  lamports,
  owner,
  rentEpoch: 0,
  space: data.length,
});

/** A token amount: atoms, and the whole number without trailing zeros. */
export function tokenAmountBody(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  const uiAmountString = fraction === '' ? whole : `${whole}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

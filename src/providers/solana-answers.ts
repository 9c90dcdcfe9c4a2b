/**
 * Schemas for the members of Solana nodes' answers that are used here. Integers become bigint, regardless of their
 * form. Nodes report the calls that programs make in a simulation in three forms: by index into the key list, with
 * plain addresses, or parsed if they can parse them.
 * @see https://solana.com/docs/rpc
 * @module
 */

import { base58 } from '@scure/base';
import * as z from 'zod';
import { createAccountData, SYSTEM_PROGRAM, systemTransferData } from '../chain/solana/transaction.ts';
import { upstreamFailed } from '../core/errors.ts';
import { integerOf } from '../core/json.ts';

export type InnerCall = {
  /** Index of the transaction's own calling instruction, from 0. */
  readonly instruction: number;
  readonly program: string;
  readonly accounts: readonly string[];
  /** Empty for a call that no rule allows. */
  readonly data: Uint8Array;
};

/** The time to decode base58 grows with the square of its length, and no known call is longer. */
const MAX_DATA_TEXT = 200;

const data = z.string();
const ByPlace = z.object({ programIdIndex: z.int().min(0), accounts: z.array(z.int().min(0)), data });
const Plain = z.object({ programId: z.string(), accounts: z.array(z.string()), data });
const Parsed = z.object({ programId: z.string(), parsed: z.unknown() });

export const InnerInstructions = z
  .array(z.object({ index: z.int().min(0), instructions: z.array(z.union([ByPlace, Plain, Parsed])) }))
  .nullish();

export const uint = z.unknown().transform((value, context) => {
  const integer = integerOf(value);
  if (integer !== undefined && integer >= 0n) return integer;
  context.addIssue('not an unsigned integer');
  return z.NEVER;
});
const slotContext = z.object({ slot: uint });
export const withContext = <T>(value: z.ZodType<T>) => z.object({ context: slotContext, value });

const RpcError = z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() });
export const Envelope = z.object({ result: z.unknown().optional(), error: RpcError.nullish() });
/** The body of a refused call. */
export const ErrorEnvelope = z.object({ error: RpcError });
export const Blockhash = withContext(z.object({ blockhash: z.string() }));
export const Validity = withContext(z.boolean());
export const EpochInfo = z.object({ absoluteSlot: uint, blockHeight: uint });
export const Epoch = z.object({ epoch: uint });
const Status = z.object({
  slot: uint,
  err: z.unknown(),
  confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
  // Nodes with Alpenglow (Agave 4.3) may omit it.
  confirmations: z.number().nullish(),
});
/** One row per requested signature. An empty list does not prove that the signature is unknown. */
export const Statuses = withContext(z.array(Status.nullable()).length(1));
export const Signatures = z.array(
  z.object({
    signature: z.string(),
    slot: uint,
    err: z.unknown(),
    blockTime: z.number().int().nullish(),
    memo: z.string().nullish(),
    confirmationStatus: z.string().nullish(),
  }),
);
export const TokenAmount = withContext(
  z.object({ amount: z.string().regex(/^\d+$/), decimals: z.number().int() }),
);

const Account = z.object({
  owner: z.string(),
  lamports: uint,
  data: z.tuple([z.base64(), z.literal('base64')]),
});
export const Accounts = withContext(z.array(Account.nullable()));

export const Simulation = withContext(z.object({ err: z.unknown(), unitsConsumed: uint.optional() }));
export const Change = withContext(
  z.object({
    err: z.unknown(),
    accounts: z.array(Account.nullable()).nullish(),
    innerInstructions: InnerInstructions,
  }),
);
export const TokenBalance = z.object({
  accountIndex: z.int().min(0),
  mint: z.string(),
  owner: z.string().nullish(),
  programId: z.string().nullish(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d+$/), decimals: z.int() }),
});
/** Parsed before the rest: a future version may have a different shape. */
export const Version = z.object({ version: z.unknown() });
/** Versions legacy, 0 and 1. Version 1 has no lookup tables, so its `loadedAddresses` are empty or absent. */
export const Transaction = z.object({
  slot: uint,
  blockTime: z.int().nullish(),
  transaction: z.object({
    signatures: z.array(z.string()).min(1),
    message: z.object({
      accountKeys: z.array(z.string()),
      header: z.object({ numRequiredSignatures: z.int().min(1) }),
    }),
  }),
  meta: z.object({
    err: z.unknown(),
    fee: uint,
    preBalances: z.array(uint),
    postBalances: z.array(uint),
    preTokenBalances: z.array(TokenBalance).nullish(),
    postTokenBalances: z.array(TokenBalance).nullish(),
    loadedAddresses: z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) }).nullish(),
  }),
});

const atoms = z.unknown().transform((value, context): bigint => {
  const integer = integerOf(value);
  if (integer !== undefined && integer >= 0n && integer < 1n << 64n) return integer;
  context.addIssue('not a u64');
  return z.NEVER;
});
const Transfer = z.object({
  type: z.literal('transfer'),
  info: z.object({ source: z.string(), destination: z.string(), lamports: atoms }),
});
const CreateAccount = z.object({
  type: z.literal('createAccount'),
  info: z.object({
    source: z.string(),
    newAccount: z.string(),
    lamports: atoms,
    space: atoms,
    owner: z.string(),
  }),
});

/**
 * @param keys of the transaction, loaded ones last
 * @throws AppError UPSTREAM_FAILED for an unreadable answer
 */
export function innerCalls(
  inner: z.infer<typeof InnerInstructions>,
  keys: readonly string[],
  upstream: string,
): InnerCall[] {
  const keyAt = (place: number): string => {
    const key = keys[place];
    if (key === undefined) throw upstreamFailed(upstream, 'unexpected_shape_innerInstructions');
    return key;
  };
  const read = (call: z.infer<typeof ByPlace> | z.infer<typeof Plain> | z.infer<typeof Parsed>) => {
    if ('programIdIndex' in call) {
      const accounts = call.accounts.map(keyAt);
      return { program: keyAt(call.programIdIndex), accounts, data: bytesOf(call.data) };
    }
    const program = call.programId;
    return 'data' in call
      ? { program, accounts: call.accounts, data: bytesOf(call.data) }
      : { program, ...(program === SYSTEM_PROGRAM ? systemCall(call.parsed) : UNREAD) };
  };
  try {
    return (inner ?? []).flatMap(({ index: instruction, instructions }) =>
      instructions.map((call) => ({ instruction, ...read(call) })),
    );
  } catch (cause) {
    throw upstreamFailed(upstream, 'unexpected_shape_innerInstructions', cause);
  }
}

const UNREAD = { accounts: [], data: new Uint8Array() };

const bytesOf = (text: string): Uint8Array =>
  text.length > MAX_DATA_TEXT ? new Uint8Array() : base58.decode(text);

/** The instruction data of a call that a node returned in parsed form. */
function systemCall(parsed: unknown): Pick<InnerCall, 'accounts' | 'data'> {
  const transfer = Transfer.safeParse(parsed);
  if (transfer.success) {
    const { source, destination, lamports } = transfer.data.info;
    return { accounts: [source, destination], data: systemTransferData(lamports) };
  }
  const create = CreateAccount.safeParse(parsed);
  if (!create.success) return UNREAD;
  const { source, newAccount, lamports, space, owner } = create.data.info;
  return { accounts: [source, newAccount], data: createAccountData({ lamports, space, owner }) };
}

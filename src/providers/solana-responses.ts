/**
 * Schemas for the members of Solana nodes' responses that are used here. Integers become bigint, whether they are
 * numbers or strings.
 * @see https://solana.com/docs/rpc
 * @module
 */
import { base64 } from '@scure/base';
import * as z from 'zod';
import { isSignature } from '../chain/solana/address.ts';
import type { ChainTransaction, TokenRow } from '../chain/solana/transaction.ts';
import { integerOf } from '../core/json.ts';

const MAX_U64 = 2n ** 64n - 1n;
export const uint = z.unknown().transform((value, context) => {
  const integer = integerOf(value);
  if (integer !== undefined && integer >= 0n && integer <= MAX_U64) return integer;
  context.addIssue('not an unsigned integer of 64 bits');
  return z.NEVER;
});
/** `decimals` is one byte of the mint: a larger one of a lying node would make powers of ten that take seconds. */
const tokenAmount = z.object({ amount: uint, decimals: z.int().min(0).max(255) });
/** The error of a transaction; null on success. */
const failure = z.unknown().transform((err): unknown => err ?? null);
const slotContext = z.object({ slot: uint });
/** Unix seconds; null if the node does not know the time. Some nodes then return 0. */
const blockTime = z
  .int()
  .nullable()
  .default(null)
  .transform((time) => time || null);
const withContext = <T>(value: z.ZodType<T>) => z.object({ context: slotContext, value });

const RpcError = z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() });
export const Envelope = z.object({ result: z.unknown().optional(), error: RpcError.nullish() });
/** The body of a refused call. */
export const ErrorEnvelope = z.object({ error: RpcError });
// A schema is compiled when it is created, so calls must not create one.
export const Unparsed = z.unknown();
export const SentSignature = z.string();
export const Balance = withContext(uint);
export const Blockhash = withContext(z.object({ blockhash: z.string() }));
export const Validity = withContext(z.boolean());
export const EpochInfo = z.object({ absoluteSlot: uint, blockHeight: uint });
const Status = z
  .object({
    slot: uint,
    err: failure,
    confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
    // Nodes with Alpenglow (Agave 4.3) may omit it.
    confirmations: z.number().nullish(),
  })
  .transform(({ slot, err, confirmationStatus, confirmations }) => ({
    slot,
    err,
    commitment: confirmationStatus ?? (confirmations === null ? 'finalized' : 'processed'),
  }));
/** One row per requested signature. An empty list does not prove that the signature is unknown. */
export const Statuses = withContext(z.array(Status.nullable()));
export const Signatures = z.array(
  z.object({
    // Honest nodes refuse to read any other string, so one malformed entry could end the reads of the others.
    signature: z.string().refine(isSignature),
    slot: uint,
    err: failure,
    blockTime,
    /** `[length] text` of its memo instructions, the first 200 characters. */
    memo: z.string().nullish(),
  }),
);
export const TokenAmount = withContext(tokenAmount);

export const Account = z.object({
  /** Address of the program that owns it. */
  owner: z.string(),
  lamports: uint,
  data: z.tuple([z.base64(), z.literal('base64')]).transform(([text]) => base64.decode(text)),
});
export const Accounts = withContext(z.array(Account.nullable()));

export const Simulation = withContext(z.object({ err: failure }));
const TokenBalance = z.object({
  accountIndex: z.int().min(0),
  mint: z.string(),
  owner: z.string().nullish(),
  programId: z.string().nullish(),
  uiTokenAmount: tokenAmount,
});
/** The version is parsed before the rest, because a future version may have a different shape. */
export const Version = z.object({ version: z.unknown() });
/** Versions legacy, 0 and 1. Version 1 has no lookup tables, so its `loadedAddresses` are empty or absent. */
export const Transaction = z
  .object({
    slot: uint,
    blockTime,
    transaction: z.object({
      signatures: z.tuple([z.string()], z.string()),
      message: z.object({
        accountKeys: z.array(z.string()),
        header: z.object({ numRequiredSignatures: z.int().min(1) }),
      }),
    }),
    meta: z.object({
      err: failure,
      fee: uint,
      preBalances: z.array(uint),
      postBalances: z.array(uint),
      preTokenBalances: z.array(TokenBalance).nullish(),
      postTokenBalances: z.array(TokenBalance).nullish(),
      loadedAddresses: z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) }).nullish(),
    }),
  })
  .transform(({ slot, blockTime, transaction, meta }): ChainTransaction => {
    const keys = transaction.message.accountKeys;
    const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
    const accounts = [...keys, ...writable, ...readonly];
    const tokens = (rows: z.infer<typeof TokenBalance>[] | null | undefined): TokenRow[] | null =>
      rows?.map((row) => ({
        account: accounts[row.accountIndex] ?? '',
        mint: row.mint,
        owner: row.owner ?? null,
        program: row.programId ?? null,
        atoms: row.uiTokenAmount.amount,
        decimals: row.uiTokenAmount.decimals,
      })) ?? null;
    return {
      signature: transaction.signatures[0],
      slot,
      blockTime,
      failed: meta.err !== null,
      fee: meta.fee,
      accounts,
      signers: keys.slice(0, transaction.message.header.numRequiredSignatures),
      preLamports: meta.preBalances,
      postLamports: meta.postBalances,
      preTokens: tokens(meta.preTokenBalances),
      postTokens: tokens(meta.postTokenBalances),
    };
  })
  .nullable();

/**
 * Schemas for the members of Solana nodes' responses that are used here. Integers become bigint, regardless of their
 * form.
 * @see https://solana.com/docs/rpc
 * @module
 */
import * as z from 'zod';
import { integerOf } from '../core/json.ts';

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
const Status = z.object({
  slot: uint,
  err: z.unknown(),
  confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
  // Nodes with Alpenglow (Agave 4.3) may omit it.
  confirmations: z.number().nullish(),
});
/** One row per requested signature. An empty list does not prove that the signature is unknown. */
export const Statuses = withContext(z.array(Status.nullable()));
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
export const TokenBalance = z.object({
  accountIndex: z.int().min(0),
  mint: z.string(),
  owner: z.string().nullish(),
  programId: z.string().nullish(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d+$/), decimals: z.int() }),
});
/** The version is parsed before the rest, because a future version may have a different shape. */
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

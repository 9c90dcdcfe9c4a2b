/**
 * The calls that programs make in a simulation. Nodes report them in three forms: by index into the key list,
 * with plain addresses, or parsed if they can parse them.
 * @see https://solana.com/docs/rpc/http/simulatetransaction (`innerInstructions`)
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

/**
 * Messages that transfer or mint tokens to an owner's associated account. A transfer has a memo that names its
 * purpose, so the chain records which payouts were made.
 * @module
 */
import { address, type Instruction } from '@solana/web3.js';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { createAtaIdempotent, findAta, mintTo } from './token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './token-program.ts';
import {
  type ComputeBudget,
  compileMessage,
  type Lifetime,
  memoInstruction,
  networkFee,
  signerAt,
} from './transaction.ts';

/**
 * Compute units with a margin, for the memo's UTF-8 check and log, the transfer, and the account's creation. The search
 * for the account's address costs up to 255 hashes.
 */
const TRANSFER_UNITS = 90_000;
const CREATION_UNITS = 110_000;
/** Micro-lamports per unit: up to 2,000 lamports in total. */
const UNIT_PRICE = 10_000n;

/**
 * Maximum rent in lamports of an account of 165 bytes: 6,960 per byte, with 128 bytes of overhead. SIMD-0437 lowers it.
 * Token-2022 adds up to five bytes to an associated account (its type, and ImmutableOwner) unless the mint requires
 * more.
 */
export const ACCOUNT_RENT: Readonly<Record<string, bigint>> = {
  [TOKEN_PROGRAM]: (165n + 128n) * 6_960n,
  [TOKEN_2022_PROGRAM]: (170n + 128n) * 6_960n,
};

export type TokenTransfer = {
  /** Pays and signs: the owner of the source, or its delegate. */
  readonly from: string;
  /** The token account that is debited. If absent, the associated account of `from`. */
  readonly source?: string;
  readonly to: string;
  readonly mint: string;
  /** The token program that owns the mint. */
  readonly program: string;
  readonly atoms: bigint;
  /** The chain rejects a value that differs from the mint's. */
  readonly decimals: number;
  readonly memo: string;
  /** Creates the receiver's account if it is missing, at the sender's cost. */
  readonly createAccount: boolean;
};

/** Lamports for signature and priority fee, excluding rent. */
export const tokenTransferFee = (transfer: Pick<TokenTransfer, 'createAccount'>): bigint =>
  networkFee(budgetOf(transfer));

const budgetOf = ({ createAccount }: Pick<TokenTransfer, 'createAccount'>): ComputeBudget => ({
  units: TRANSFER_UNITS + (createAccount ? CREATION_UNITS : 0),
  unitPrice: UNIT_PRICE,
});

/** The message to sign; `from` pays and is the only signer. */
export function tokenTransferMessage(transfer: TokenTransfer, lifetime: Lifetime): Uint8Array {
  const { from, to, mint, program, memo } = transfer;
  return compileMessage(from, lifetime, budgetOf(transfer), [
    ...(transfer.createAccount ? [createAtaIdempotent({ payer: from, owner: to, mint, program })] : []),
    // A Token-2022 account that requires memos accepts a transfer only right after a memo.
    memoInstruction(memo),
    transferChecked(transfer),
  ]);
}

/** A transfer to the associated account of its receiver. */
const transferChecked = ({ from, source, to, mint, program, atoms, decimals }: TokenTransfer): Instruction =>
  getTransferCheckedInstruction(
    {
      source: source === undefined ? findAta(from, mint, program) : address(source),
      mint: address(mint),
      destination: findAta(to, mint, program),
      authority: signerAt(from),
      amount: atoms,
      decimals,
    },
    { programAddress: address(program) },
  );

/**
 * The units include a margin: the search for the account's address costs up to 255 hashes, the memo about 350 units a
 * byte. The priority fee is 1,600 lamports.
 */
const MINT_BUDGET: ComputeBudget = { units: 160_000, unitPrice: 10_000n };

/** Network fee in lamports, excluding the rent of a missing account. Each signature costs 5,000 lamports. */
export const mintFee = (signatures: 1 | 2): bigint => networkFee(MINT_BUDGET, BigInt(signatures));

/** The native multisig account, 2 of 2, that is the mint authority: the payer of the mint and the witness. */
export type MintMultisig = { readonly address: string; readonly witness: string };

export type TokenMint = Pick<TokenTransfer, 'mint' | 'program' | 'atoms' | 'decimals'> & {
  /** Pays and signs first. Without a multisig, it is the mint authority and the only signer. */
  readonly payer: string;
  readonly multisig?: MintMultisig | undefined;
  /** Owner of the receiving associated account. */
  readonly owner: string;
  /** The daily mint writes `proof:` and the hash of the newest ownership proof; absent before the first proof. */
  readonly memo?: string | undefined;
};

/** The message that mints to an associated account, which is created if missing. */
export function mintMessage(request: TokenMint, lifetime: Lifetime): Uint8Array {
  const { payer, multisig, owner, mint, program, atoms, decimals, memo } = request;
  const authority = multisig
    ? { authority: multisig.address, signers: [payer, multisig.witness] }
    : { authority: payer };
  return compileMessage(payer, lifetime, MINT_BUDGET, [
    createAtaIdempotent({ payer, owner, mint, program }),
    ...(memo === undefined ? [] : [memoInstruction(memo)]),
    mintTo({ ...authority, mint, program, atoms, decimals, account: findAta(owner, mint, program) }),
  ]);
}

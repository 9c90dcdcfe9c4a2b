import { AccountRole, address, type Instruction } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { getTransferCheckedInstruction } from '@solana-program/token';
import type { SolanaKey } from './keys.ts';
import { landTransaction } from './solana-wallet.ts';
import type { FaucetAsset, SolanaWorld } from './solana-world.ts';
import { createTokenAccounts } from './test-tokens.ts';

const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

export interface UserTransfer {
  readonly from: SolanaKey;
  readonly to: string;
  readonly asset: FaucetAsset;
  /** Lamports, or token atoms. */
  readonly amount: bigint;
  /** Solana Pay references: read-only keys on the transfer by which it is found. */
  readonly references?: readonly string[];
  readonly memo?: string;
  /** 1: the user has a wallet that sends version 1. */
  readonly version?: 0 | 1;
}

function withReferences(instruction: Instruction, references: readonly string[]): Instruction {
  const keys = references.map((key) => ({ address: address(key), role: AccountRole.READONLY }));
  return { ...instruction, accounts: [...(instruction.accounts ?? []), ...keys] };
}

const memoInstruction = (memo: string): Instruction => ({
  programAddress: MEMO_PROGRAM,
  data: new TextEncoder().encode(memo),
});

/** Sends SOL or tokens from a throw-away user as a wallet would. Resolves with the signature once it has landed. */
export async function transferFromUser(solana: SolanaWorld, transfer: UserTransfer): Promise<string> {
  const { from, to, asset, amount } = transfer;
  const { ledger } = solana;
  let move: Instruction;
  if (asset === 'sol') {
    move = getTransferSolInstruction({ source: from.signer, destination: address(to), amount });
  } else {
    const { mint, decimals } = solana.mints[asset];
    await createTokenAccounts(ledger, solana.bank.signer, to, [mint]);
    move = getTransferCheckedInstruction({
      source: address(await solana.tokenAccount(from.address, asset)),
      mint: address(mint),
      destination: address(await solana.tokenAccount(to, asset)),
      authority: from.signer,
      amount,
      decimals,
    });
  }
  const memo = transfer.memo === undefined ? [] : [memoInstruction(transfer.memo)];
  const landed = await landTransaction(
    ledger,
    from.signer,
    [...memo, withReferences(move, transfer.references ?? [])],
    { asVersionOne: transfer.version === 1 },
  );
  return landed.signature;
}

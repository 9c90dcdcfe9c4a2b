/**
 * The memo program: text that a transaction carries and the chain's indexes show beside its signature.
 * @see solana-program/memo
 * @module
 */
import type { Instruction } from '@solana/web3.js';
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo';

/**
 * A memo of version 3 of the program. The library's default is a newer program, which the searches of nodes and of
 * recovery need not know: they find a payout again by its memo.
 */
export const memoInstruction = (text: string): Instruction =>
  getAddMemoInstruction({ memo: text }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 });

/** The text of a transaction's only memo, from `getSignaturesForAddress`: its length in brackets, then itself. */
export const memoText = (listed: string | null | undefined): string | undefined =>
  listed?.replace(/^\[\d+\] /, '');

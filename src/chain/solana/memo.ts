/**
 * The memo program: a text inside a transaction that the chain's indexes list with its signature.
 * @see solana-program/memo
 * @module
 */
import type { Instruction } from '@solana/web3.js';
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo';

/**
 * A memo of version 3 of the program. The library's default is a newer program, which nodes and the recovery
 * might not recognize, and they find payouts by memo.
 */
export const memoInstruction = (text: string): Instruction =>
  getAddMemoInstruction({ memo: text }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 });

/**
 * The text of a transaction's only memo, from a `getSignaturesForAddress` entry: its length in brackets, then
 * the text.
 */
export const memoText = (listed: string | null | undefined): string | undefined =>
  listed?.replace(/^\[\d+\] /, '');

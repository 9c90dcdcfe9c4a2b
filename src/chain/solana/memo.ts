/**
 * The memo program: text that a transaction carries and the chain's indexes show beside its signature.
 * @see solana-program/memo
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type Instruction, instruction } from './instruction.ts';

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

export const memoInstruction = (text: string): Instruction =>
  instruction(MEMO_PROGRAM, [], utf8ToBytes(text));

/** The text of a transaction's only memo, from `getSignaturesForAddress`: its length in brackets, then itself. */
export const memoText = (listed: string | null | undefined): string | undefined =>
  listed?.replace(/^\[\d+\] /, '');

/**
 * The birth of a journal that was started empty after a loss. The lost journal may have used older payments and
 * deposits, so they no longer pay for anything.
 * @module
 */
import { olderThanRecords } from '../../core/older-records.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { Refusal } from '../api.ts';
import type { Journal } from './journal.ts';

export type Birth = {
  /** Unix milliseconds. */
  readonly at: number;
  /** A slot no lower than any honest node's finalized slot at that time; a decimal string. */
  readonly slot: string;
  /** The highest revision of the lost journal: rows of D1 up to it belong to that journal. */
  readonly revision: number;
};

const BIRTH = 'birth';

/** Undefined for a journal that never lost rows. */
export function birthOf(journal: Journal): Birth | undefined {
  const text = journal.getMeta(BIRTH);
  return text === undefined ? undefined : (JSON.parse(text) as Birth);
}

export const storeBirth = (journal: Journal, birth: Birth): void =>
  journal.setMeta(BIRTH, JSON.stringify(birth));

/** The reason why a transaction is too old to pay for anything; undefined if it is recent enough. */
export function olderRefusal(
  journal: Journal,
  { slot }: Pick<ChainTransaction, 'slot'>,
  contact: string | undefined,
): Refusal | undefined {
  const birth = birthOf(journal);
  return birth === undefined || slot > BigInt(birth.slot) ? undefined : olderThanRecords(birth.at, contact);
}

/** Why a payment request or operation cannot continue, if only the lost journal had it; undefined for any other id. */
export function lostRequestRefusal(
  journal: Journal,
  id: string,
  contact: string | undefined,
): Refusal | undefined {
  const birth = birthOf(journal);
  const isLost = birth !== undefined && journal.userOf(lostRequest(id)) !== undefined;
  return isLost ? olderThanRecords(birth.at, contact) : undefined;
}

/** The name that a payment request or an operation of the lost journal uses. */
export const lostRequest = (id: string): string => `request:${id}`;

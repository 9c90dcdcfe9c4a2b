/**
 * The birth of a journal that began anew after a loss. Payments and deposits that are older may have been used by the lost
 * journal, so they pay for nothing.
 * @module
 */
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { Refusal } from '../api.ts';
import type { Journal } from './journal.ts';

export type Birth = {
  /** Unix milliseconds. */
  readonly at: number;
  /** A slot that a quorum of nodes had finalized by then, as decimal text. */
  readonly slot: string;
};

const BIRTH = 'birth';

/** Undefined for a journal that never lost rows. */
export function birthOf(journal: Journal): Birth | undefined {
  const text = journal.getMeta(BIRTH);
  return text === undefined ? undefined : (JSON.parse(text) as Birth);
}

export const storeBirth = (journal: Journal, birth: Birth): void =>
  journal.setMeta(BIRTH, JSON.stringify(birth));

/** Why a transaction is too old to pay for anything; undefined if it is not. */
export function olderRefusal(
  journal: Journal,
  { slot }: Pick<ChainTransaction, 'slot'>,
  contact: string | undefined,
): Refusal | undefined {
  const birth = birthOf(journal);
  return birth === undefined || slot > BigInt(birth.slot) ? undefined : refusalOf(birth, contact);
}

/** Why a payment request or an operation cannot go on that only the lost journal had; undefined for any other id. */
export function lostRequestRefusal(
  journal: Journal,
  id: string,
  contact: string | undefined,
): Refusal | undefined {
  const birth = birthOf(journal);
  const isLost = birth !== undefined && journal.consumerOf(lostRequest(id)) !== undefined;
  return isLost ? refusalOf(birth, contact) : undefined;
}

/** The name that a payment request or an operation of the lost journal has consumed. */
export const lostRequest = (id: string): string => `request:${id}`;

function refusalOf({ at }: Birth, contact: string | undefined): Refusal {
  const recordsSince = new Date(at).toISOString();
  const who = contact === undefined ? 'the operator' : `the operator (${contact})`;
  return {
    code: 'OLDER_THAN_RECORDS',
    message: `The records of this service begin at ${recordsSince}, after this was made. Ask ${who} to settle it by hand.`,
    details: { recordsSince, ...(contact === undefined ? {} : { contact }) },
  };
}

/**
 * May this journal be trusted? A restored or emptied one would pay again what it has forgotten. It starts frozen when
 * the mirror or the chain knows more than it does, and stays so until the operator reconciles.
 * @module
 */
import type { SignatureEntry } from '../providers/solana-rpc.ts';
import type { Journal } from './journal.ts';
import type { Log, Mirror } from './ports.ts';

export type BootPorts = {
  readonly journal: Journal;
  readonly mirror: Mirror;
  readonly log: Log;
  /** Newest finalized signatures of the reserve. */
  reserveSignatures(page: { limit: number }): Promise<SignatureEntry[]>;
  /** The accounts that signed a transaction; null while the node does not have it. */
  signersOf(signature: string): Promise<readonly string[] | null>;
  readonly reserveAddress: string;
};

export type Trust = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const FROZEN = 'frozen';
/** Set once an empty journal has been found to be a true beginning, or the operator has said so. */
const BEGUN = 'begun';
/** Transactions of the reserve that are looked through for one that it signed. */
const HISTORY_SEARCH = 50;

export const frozenReason = (journal: Journal): string | undefined => journal.getMeta(FROZEN) || undefined;

/** Stops all signing until `reconcile`. */
export function freeze(journal: Journal, reason: string, log: Log): void {
  journal.setMeta(FROZEN, reason);
  log({ level: 'alarm', event: 'signing_frozen', reason });
}

/** After a reconciliation, or when the operator has confirmed that an empty journal is a true beginning. */
export function unfreeze(journal: Journal): void {
  journal.setMeta(FROZEN, '');
  journal.setMeta(BEGUN, '1');
}

/**
 * Compares the journal with what others remember. Needs D1 and, for an empty journal, the chain: when they do not
 * answer nothing is known, and nothing new is signed.
 * @throws when the mirror or the chain cannot be read
 */
export async function checkTrust(p: BootPorts): Promise<Trust> {
  const frozen = frozenReason(p.journal);
  if (frozen) return { ok: false, reason: frozen };
  const mirrored = await p.mirror.highestRevision();
  if (mirrored > p.journal.revision()) return frozenFor(p, 'journal_behind_mirror');
  if (p.journal.getMeta(BEGUN)) return { ok: true };
  if (p.journal.isEmpty() && (await reserveHasSigned(p)))
    return frozenFor(p, 'journal_empty_but_reserve_has_signed');
  p.journal.setMeta(BEGUN, '1');
  return { ok: true };
}

function frozenFor(p: BootPorts, reason: string): Trust {
  freeze(p.journal, reason, p.log);
  return { ok: false, reason };
}

async function reserveHasSigned(p: BootPorts): Promise<boolean> {
  for (const { signature } of await p.reserveSignatures({ limit: HISTORY_SEARCH })) {
    const signers = await p.signersOf(signature);
    if (!signers || signers.includes(p.reserveAddress)) return true;
  }
  return false;
}

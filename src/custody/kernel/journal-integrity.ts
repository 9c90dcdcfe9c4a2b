/**
 * Decides whether this journal is the true one. A restored or emptied journal would pay again what it has lost. It starts frozen when
 * the mirror or the chain knows more than it does, and stays so until the operator reconciles.
 * @module
 */

import type { Journal } from './journal.ts';
import type { Log, Mirror } from './ports.ts';
import { type History, quorumOf, readLists, unionOf } from './quorum.ts';
import { orUnreadable } from './solana-view.ts';

export type JournalCheckPorts = {
  readonly journal: Journal;
  readonly mirror: Mirror;
  readonly log: Log;
  readonly history: History;
  /** The accounts that signed a transaction; null while no quorum of nodes shows it. */
  signersOf(signature: string): Promise<readonly string[] | null>;
  readonly reserveAddress: string;
  readonly now: () => number;
};

export type Integrity = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const FROZEN = 'frozen';
/** Set once an empty journal has been found to be a true beginning, or the operator has said so. */
const INITIALISED = 'begun';
/** When this journal was first known not to be the true one, Unix milliseconds. */
const SUSPECT_SINCE = 'doubted_at';
/** After this time every transaction signed by a lost instance is final or expired: no blockhash lives for two minutes. */
const SETTLED_MS = 10 * 60_000;
/** Transactions of each node's list that are searched for one that the reserve signed. */
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
  journal.offering(journal.revision());
  journal.setMeta(INITIALISED, '1');
}

/** Frozen because others know more: its rows are not the truth, so none of them is carried on, used or shown. */
export const isSuspect = (journal: Journal): boolean =>
  frozenReason(journal)?.startsWith('journal_') ?? false;

/**
 * Milliseconds until a suspect journal may be rebuilt; 0 when it may be now. Before that a transaction that only the
 * lost journal knew may still be on its way: the chain would not show it, and what it pays would be paid again.
 */
export function settlesIn(journal: Journal, now: number): number {
  const since = Number(journal.getMeta(SUSPECT_SINCE) ?? 0);
  if (!isSuspect(journal) || since === 0) return 0;
  // A clock that has gone back since begins anew.
  if (since > now) journal.setMeta(SUSPECT_SINCE, String(now));
  return Math.max(Math.min(since, now) + SETTLED_MS - now, 0);
}

/**
 * Is this journal the true one? Compares it with what others remember. Needs D1 and, for an empty journal, the chain:
 * when they do not answer nothing is known, and nothing is carried on.
 * @throws when the mirror or the chain cannot be read
 */
export async function checkJournal(p: JournalCheckPorts): Promise<Integrity> {
  const frozen = frozenReason(p.journal);
  if (frozen && isSuspect(p.journal)) return { ok: false, reason: frozen };
  const mirrored = await p.mirror.highestRevision();
  // Not with the journal's own revision: a restored one counts on, and would outgrow what it has forgotten.
  if (mirrored > p.journal.offered()) return frozenFor(p, 'journal_behind_mirror');
  if (p.journal.getMeta(INITIALISED)) return { ok: true };
  if (p.journal.isEmpty() && (await mayHaveSigned(p)))
    return frozenFor(p, 'journal_empty_but_reserve_has_signed');
  p.journal.setMeta(INITIALISED, '1');
  return { ok: true };
}

/** What one instance knows of its journal: asked until it is answered, and then once for its life. */
export function createJournalCheck(p: JournalCheckPorts) {
  let verified = false;
  let comparing: Promise<void> | undefined;

  async function compare(): Promise<void> {
    try {
      verified = (await checkJournal(p)).ok;
    } catch (error) {
      p.log({ level: 'warn', event: 'journal_unverified', error: String(error).slice(0, 200) });
    }
  }

  return {
    isVerified: (): boolean => verified,

    /** Of a journal that others know more than, nothing is carried on, used or shown. */
    async verify(): Promise<void> {
      if (verified) return;
      comparing ??= compare().finally(() => {
        comparing = undefined;
      });
      await comparing;
    },
  };
}

function frozenFor(p: JournalCheckPorts, reason: string): Integrity {
  freeze(p.journal, reason, p.log);
  p.journal.setMeta(SUSPECT_SINCE, String(p.now()));
  return { ok: false, reason };
}

async function mayHaveSigned(p: JournalCheckPorts): Promise<boolean> {
  const { nodes, isAbsent } = p.history;
  const lists = await readLists(p.history, quorumOf(nodes.length), (node) =>
    node.signatures({ limit: HISTORY_SEARCH }),
  );
  for (const entry of unionOf(lists)) {
    const signers = await orUnreadable(p.signersOf(entry.signature));
    if (signers === 'unreadable' || (!signers && (await isAbsent(entry)))) continue;
    if (!signers || signers.includes(p.reserveAddress)) return true;
  }
  // A transaction of the reserve may follow a full page of transactions that others signed.
  return lists.some((list) => list.length >= HISTORY_SEARCH);
}

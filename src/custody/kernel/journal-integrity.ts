/**
 * Decides whether this journal is complete. A restored or emptied journal would repeat payments that it has
 * lost. Signing is frozen when the mirror or the chain shows more than the journal, until the operator
 * reconciles.
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
  /** The accounts that signed a transaction; null without a quorum of nodes that show it. */
  signersOf(signature: string): Promise<readonly string[] | null>;
  readonly reserveAddress: string;
  readonly now: () => number;
};

export type Integrity = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const FROZEN = 'frozen';
/** Set once an empty journal was found to be a true beginning, or was confirmed by the operator. */
const INITIALISED = 'begun';
/** When this journal first became suspect, Unix milliseconds. */
const SUSPECT_SINCE = 'doubted_at';
/**
 * After this time every transaction signed by a lost instance is final or expired: a blockhash lives for less
 * than two minutes.
 */
const SETTLED_MS = 10 * 60_000;
/** Transactions of each node's list in which one signed by the reserve is searched. */
const HISTORY_SEARCH = 50;

export const frozenReason = (journal: Journal): string | undefined => journal.getMeta(FROZEN) || undefined;

/** Stops all signing until `reconcile`. */
export function freeze(journal: Journal, reason: string, log: Log): void {
  journal.setMeta(FROZEN, reason);
  log({ level: 'alarm', event: 'signing_frozen', reason });
}

/**
 * Resumes signing after a reconciliation, or after the operator confirmed that an empty journal is a true
 * beginning.
 */
export function unfreeze(journal: Journal): void {
  journal.setMeta(FROZEN, '');
  journal.offering(journal.revision());
  journal.setMeta(INITIALISED, '1');
}

/**
 * True when the mirror or the chain shows more than this journal. Its rows are then not carried on, used or
 * shown.
 */
export const isSuspect = (journal: Journal): boolean =>
  frozenReason(journal)?.startsWith('journal_') ?? false;

/**
 * Milliseconds until a suspect journal may be rebuilt; 0 when it may be rebuilt now. Before that, a
 * transaction that only the lost journal recorded may still land. The chain would not show it yet, and the
 * rebuilt journal would pay it again.
 */
export function settlesIn(journal: Journal, now: number): number {
  const since = Number(journal.getMeta(SUSPECT_SINCE) ?? 0);
  if (!isSuspect(journal) || since === 0) return 0;
  // The clock has gone back since, so the wait begins again.
  if (since > now) journal.setMeta(SUSPECT_SINCE, String(now));
  return Math.max(Math.min(since, now) + SETTLED_MS - now, 0);
}

/**
 * Compares the journal with D1 and, if it is empty, with the chain. If they cannot be read, the journal stays
 * unverified.
 * @throws when the mirror or the chain cannot be read
 */
export async function checkJournal(p: JournalCheckPorts): Promise<Integrity> {
  const frozen = frozenReason(p.journal);
  if (frozen && isSuspect(p.journal)) return { ok: false, reason: frozen };
  const mirrored = await p.mirror.highestRevision();
  // The highest offered revision is compared, not the current one: a restored journal counts on and would
  // outgrow what it has lost.
  if (mirrored > p.journal.offered()) return frozenFor(p, 'journal_behind_mirror');
  if (p.journal.getMeta(INITIALISED)) return { ok: true };
  if (p.journal.isEmpty() && (await mayHaveSigned(p)))
    return frozenFor(p, 'journal_empty_but_reserve_has_signed');
  p.journal.setMeta(INITIALISED, '1');
  return { ok: true };
}

/** Caches the result of the journal check for the life of an instance; a failed check is repeated. */
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

    /** Rows of a suspect journal are not carried on, used or shown. */
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
  // A full page of other parties' transactions may hide an older one signed by the reserve.
  return lists.some((list) => list.length >= HISTORY_SEARCH);
}

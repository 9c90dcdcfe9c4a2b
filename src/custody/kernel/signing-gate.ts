/**
 * Decides whether anything may be signed or begun. The reasons are stable codes; each is asked again right before a
 * signature is stored.
 * @module
 */
import type { Journal } from './journal.ts';
import { type createJournalCheck, frozenReason } from './journal-integrity.ts';
import type { Kind } from './operation.ts';

/** With changes undelivered for longer, nothing new begins, because no caller could read it. */
const MIRROR_PATIENCE_MS = 60_000;

export type SigningGate = ReturnType<typeof createSigningGate>;

export function createSigningGate(p: {
  readonly journal: Journal;
  readonly check: ReturnType<typeof createJournalCheck>;
  /** Whether a newer release has written the storage: it is then only read. */
  readonly isNewerStorage: boolean;
  /** Whether every limit is a number. */
  readonly hasLimits: boolean;
  /** Whether the configuration stops this kind. */
  isDisabled(kind: Kind): boolean;
  readonly now: () => number;
}) {
  const { journal, now } = p;
  const isVerified = (): boolean => !p.isNewerStorage && p.check.isVerified();

  /** Compares the journal with D1 and the chain until it is known to be the true one. */
  async function verify(): Promise<void> {
    // Never compared with a newer release's: to freeze it would write.
    if (!p.isNewerStorage) await p.check.verify();
  }

  /** Why nothing of a kind may be signed, from what this instance knows already; undefined when it may. */
  function stop(kind: Kind): string | undefined {
    if (p.isNewerStorage) return 'stopped_storage_newer';
    if (!p.hasLimits) return 'stopped_misconfigured';
    const frozen = frozenReason(journal);
    if (frozen) return `stopped_${frozen}`;
    if (!isVerified()) return 'stopped_unverified';
    const paused = p.isDisabled(kind) ? 'disabled' : journal.getMeta('paused');
    return paused ? `stopped_${paused}` : undefined;
  }

  /** Why nothing of a kind may begin now. */
  async function stopBeginning(kind: Kind): Promise<string | undefined> {
    await verify();
    const why = stop(kind)?.slice('stopped_'.length);
    if (why) return why;
    const since = journal.undeliveredSince();
    return since !== undefined && now() - since > MIRROR_PATIENCE_MS ? 'database_unavailable' : undefined;
  }

  return { isNewerStorage: p.isNewerStorage, isVerified, verify, stop, stopBeginning };
}

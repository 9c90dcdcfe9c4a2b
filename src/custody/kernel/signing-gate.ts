/**
 * Decides whether signing and new operations are allowed. The reasons are stable codes. Each is checked again
 * immediately before a signature is stored.
 * @module
 */
import type { Journal } from './journal.ts';
import { type createJournalCheck, frozenReason } from './journal-integrity.ts';
import type { Kind } from './operation.ts';

/** When changes stay undelivered for longer, no new operation begins, because callers could not read it. */
const MIRROR_PATIENCE_MS = 60_000;
/** From this number of refused rows on, D1 is treated as unavailable: a full database may accept small writes. */
const MOST_SET_ASIDE = 20;

export type SigningGate = ReturnType<typeof createSigningGate>;

export function createSigningGate(p: {
  readonly journal: Journal;
  readonly check: ReturnType<typeof createJournalCheck>;
  /** Whether a newer release has written the storage, which is then read-only. */
  readonly isNewerStorage: boolean;
  /** Whether every limit is a number. */
  readonly hasLimits: boolean;
  /** Whether the configuration disables this kind. */
  isDisabled(kind: Kind): boolean;
  readonly now: () => number;
}) {
  const { journal, now } = p;
  const isVerified = (): boolean => !p.isNewerStorage && p.check.isVerified();

  /** Compares the journal with D1 and the chain until it is verified. */
  async function verify(): Promise<void> {
    // The storage of a newer release is never compared, because freezing would write to it.
    if (!p.isNewerStorage) await p.check.verify();
  }

  /**
   * Reason why no operation of a kind may be signed, from this instance's state; undefined when signing is
   * allowed.
   */
  function stop(kind: Kind): string | undefined {
    if (p.isNewerStorage) return 'stopped_storage_newer';
    if (!p.hasLimits) return 'stopped_misconfigured';
    const frozen = frozenReason(journal);
    if (frozen) return `stopped_${frozen}`;
    if (!isVerified()) return 'stopped_unverified';
    const paused = p.isDisabled(kind) ? 'disabled' : journal.getMeta('paused');
    return paused ? `stopped_${paused}` : undefined;
  }

  /** Reason why no operation of a kind may begin now. */
  async function stopBeginning(kind: Kind): Promise<string | undefined> {
    await verify();
    const why = stop(kind)?.slice('stopped_'.length);
    if (why) return why;
    const since = journal.undeliveredSince();
    // Also when the clock went back by more: the true wait is then unknown.
    const isLate = since !== undefined && Math.abs(now() - since) > MIRROR_PATIENCE_MS;
    const isUnavailable = isLate || journal.setAside(MOST_SET_ASIDE).length >= MOST_SET_ASIDE;
    return isUnavailable ? 'database_unavailable' : undefined;
  }

  return { isNewerStorage: p.isNewerStorage, isVerified, verify, stop, stopBeginning };
}

/**
 * Freezes signing when the reserve's key signed a transaction that no row explains: someone else may have the key.
 * @module
 */
import * as z from 'zod';
import { HOUR_MS } from '../../core/durations.ts';
import { freeze, frozenReason, liftFreeze } from '../kernel/journal-integrity.ts';
import type { CustodyModule, ModuleTools } from '../kernel/module.ts';
import { type SpendPorts, searchSpends, type UnexplainedSpend } from './unexplained-spends.ts';

const UNEXPLAINED_SPEND = 'unexplained_spend';

/** Address of the reserve, and the slot up to which every transaction was checked. */
const CHECKED_TO = 'spends_checked_to';
/** The spends of the current freeze, and the signatures of those of earlier freezes. */
const FOUND = 'spends_found';
/** Slots that are read again, because a node's list may lag behind its balances; about two minutes. */
const OVERLAP = 300n;
/** For this many slots, about ten minutes or ten runs of the cron, the check waits for an undecided entry. */
const PATIENCE = 1_500n;
const PATIENT_RUNS = 10;
const RUN_MS = 60_000;
/** Maximum transactions that one run reads. */
const READS = 60;
/** Maximum remembered signatures. */
const KEPT = 100;

const CheckedTo = z.object({ address: z.string(), slot: z.string() });
type Found = { readonly spends: readonly UnexplainedSpend[]; readonly known: readonly string[] };

export class SpendWatch implements CustodyModule {
  readonly #tools: ModuleTools;
  readonly #ports: Omit<SpendPorts, 'isExplained'>;

  constructor(tools: ModuleTools, ports: Omit<SpendPorts, 'isExplained'>) {
    this.#tools = tools;
    this.#ports = ports;
  }

  /**
   * Ends a freeze that spends of another key caused. A change of the key resolves it, and moves the funds by hand.
   * Signing stays paused until the operator decides that the new key begins.
   */
  endAfterKeyChange(): void {
    const { journal, storage } = this.#tools;
    if (frozenReason(journal) !== UNEXPLAINED_SPEND || this.#checkedTo() !== undefined) return;
    storage.transaction(() => {
      journal.setMeta('paused', 'operator');
      liftFreeze(journal);
    });
  }

  /** The spends for which signing is frozen. */
  spends(): readonly UnexplainedSpend[] {
    return frozenReason(this.#tools.journal) === UNEXPLAINED_SPEND ? this.#found().spends : [];
  }

  async onCron(): Promise<void> {
    const { journal, readBalance, log, now } = this.#tools;
    // A quorum shows this balance, so a single node cannot change where the check continues.
    const { slot } = await readBalance(journal.releasedSlot());
    const from = this.#checkedTo();
    // A new key: everything that it signed before was checked when the journal began.
    if (from === undefined) return this.#advance(slot);
    const isExplained = (signature: string) =>
      journal.bySignature(signature) !== undefined || this.#found().known.includes(signature);
    const run = Math.floor(now() / RUN_MS);
    const search = await searchSpends({ ...this.#ports, isExplained }, from, READS, run);
    const { spends, undecided, listed } = search;
    if (spends.length > 0) this.#report(spends);
    // Anyone can name the reserve in a transaction, so a thief could hide a spend among transactions that are not read
    // in time.
    if (listed > READS * PATIENT_RUNS && journal.isDueAgain('spends_unread', HOUR_MS, now()))
      log({ level: 'alarm', event: 'spends_unread', listed });
    const waiting = undecided.map((entry) => entry.slot - 1n).filter((before) => before > slot - PATIENCE);
    const next = [slot - OVERLAP, ...waiting].reduce((least, each) => (each < least ? each : least));
    if (next > from) this.#advance(next);
  }

  #report(spends: readonly UnexplainedSpend[]): void {
    const { journal, storage, log } = this.#tools;
    storage.transaction(() => {
      const { known } = this.#found();
      const shown = [...this.spends(), ...spends];
      const signatures = [...known, ...spends.map(({ signature }) => signature)].slice(-KEPT);
      journal.setMeta(FOUND, JSON.stringify({ spends: shown, known: signatures }));
      freeze(journal, UNEXPLAINED_SPEND, log);
    });
    for (const spend of spends) log({ level: 'alarm', event: UNEXPLAINED_SPEND, ...spend });
  }

  #found(): Found {
    const text = this.#tools.journal.getMeta(FOUND);
    return text === undefined ? { spends: [], known: [] } : (JSON.parse(text) as Found);
  }

  #checkedTo(): bigint | undefined {
    const text = this.#tools.journal.getMeta(CHECKED_TO);
    const stored = text === undefined ? undefined : CheckedTo.parse(JSON.parse(text));
    return stored?.address === this.#ports.reserveAddress ? BigInt(stored.slot) : undefined;
  }

  #advance(slot: bigint): void {
    const address = this.#ports.reserveAddress;
    this.#tools.journal.setMeta(CHECKED_TO, JSON.stringify({ address, slot: slot.toString() }));
  }
}

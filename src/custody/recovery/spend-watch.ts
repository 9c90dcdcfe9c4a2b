/**
 * Freezes signing when a transaction signed by the reserve's key, or one that took ASRY or minted ABSR, has no row that
 * explains it. Someone else may have a key.
 * @module
 */
import * as z from 'zod';
import { HOUR_MS } from '../../core/durations.ts';
import { freeze, frozenReason, liftFreeze, unexpectedDebits } from '../kernel/journal-integrity.ts';
import type { CustodyModule, ModuleTools } from '../kernel/module.ts';
import type { Listed } from '../nodes/history.ts';
import type { UnexplainedSpend } from '../operator-api.ts';
import { type SpendPorts, searchSpends } from './unexplained-spends.ts';

const UNEXPLAINED_SPEND = 'unexplained_spend';

/** Key of `meta`: address of the reserve, and the slot up to which every transaction was checked. */
const CHECKED_TO = 'spends_checked_to';
/** The spends found during the current freeze, and the signatures of spends found during earlier ones. */
const FOUND = 'spends_found';
/** Entries after `CHECKED_TO` that are already decided: `slot signature`. */
const READ = 'spends_read';
/** This many slots, about two minutes, are read again, because a node's list may lag behind its balances. */
const OVERLAP = 300n;
/** For this many slots, about ten minutes, the check waits for entries that it has not read. The cron makes one run a minute. */
const PATIENCE = 1_500n;
const PATIENT_RUNS = 10;
/** Maximum transactions that one run reads, in addition to those that wait. */
const READS = 60;
/** Maximum decided entries that are stored. */
const MOST_KEPT = READS * PATIENT_RUNS;
/** Agenda name of transactions that could not be read. Their id is `slot signature`. */
const UNREAD_SPEND = 'spend';
/** Maximum waiting transactions, because a node can invent any number. */
const MOST_WAITING = 20;
/** An unreadable transaction is dropped after this many runs: a day, at one run a minute. */
const MOST_RUNS = 1_440;
const KEPT = 100;

const CheckedTo = z.object({ address: z.string(), slot: z.string() });
/** `finalizedSlot`: the highest slot that a quorum of nodes has finalized. @throws AppError UPSTREAM_FAILED */
export type SpendWatchPorts = Omit<SpendPorts, 'isExplained'> & { finalizedSlot(): Promise<bigint> };
type Found = { readonly spends: readonly UnexplainedSpend[]; readonly known: readonly string[] };

export class SpendWatch implements CustodyModule {
  readonly #tools: ModuleTools;
  readonly #ports: SpendWatchPorts;

  constructor(tools: ModuleTools, ports: SpendWatchPorts) {
    this.#tools = tools;
    this.#ports = ports;
  }

  /**
   * Ends a freeze that was caused only by spends of the reserve's earlier key. Changing the key resolves them, because
   * the operator has moved the funds; other keys can still spend. Signing stays paused until the operator resumes it.
   */
  endAfterKeyChange(): void {
    const { journal, storage } = this.#tools;
    if (frozenReason(journal) !== UNEXPLAINED_SPEND || this.#checkedTo() !== undefined) return;
    if (unexpectedDebits(journal).length > 0) return;
    if (!this.spends().every(({ signedByReserve }) => signedByReserve)) return;
    storage.transaction(() => {
      journal.setMeta('paused', 'operator');
      liftFreeze(journal);
    });
  }

  spends(): readonly UnexplainedSpend[] {
    return frozenReason(this.#tools.journal) === UNEXPLAINED_SPEND ? this.#found().spends : [];
  }

  async onCron(): Promise<void> {
    const { agenda, journal, storage, log } = this.#tools;
    const slot = await this.#ports.finalizedSlot();
    const from = this.#checkedTo();
    // A new key: what it signed earlier was checked when the journal started.
    if (from === undefined) return this.#advance(slot);
    const isExplained = (signature: string) =>
      journal.bySignature(signature) !== undefined || this.#found().known.includes(signature);
    const waiting = agenda.ids(UNREAD_SPEND).map(listedOf);
    const read = this.#read();
    const earlier = { waiting, read: new Set(read.map(({ signature }) => signature)) };
    const search = await searchSpends({ ...this.#ports, isExplained }, from, READS, earlier);
    const isWaiting = ({ signature }: Listed) => waiting.some((each) => each.signature === signature);
    const unread = [...search.unshown, ...search.unreadable];
    const room = Math.max(0, MOST_WAITING - waiting.length);
    const waitsNext = [
      ...unread.filter(isWaiting),
      ...unread.filter((entry) => !isWaiting(entry)).slice(0, room),
    ];
    const left = [...search.left, ...unread.filter((entry) => !waitsNext.includes(entry))];
    const held = left.map((entry) => entry.slot - 1n).filter((before) => before > slot - PATIENCE);
    // Anyone can name the reserve in a transaction, so a thief could hide a spend among transactions that are not read
    // in time.
    const next = [slot - OVERLAP, ...held].reduce((least, each) => (each < least ? each : least));
    const after = next > from ? next : from;
    const kept = [...read, ...search.read].filter((entry) => entry.slot > after);
    // Each later run would read dropped entries again, the oldest first, and never reach the newest.
    const isForgotten = kept.length > MOST_KEPT;
    const isTooMuch = isForgotten || search.listed > MOST_KEPT || held.length < left.length;
    if (isTooMuch && agenda.isDueAgain('spends_unread', HOUR_MS))
      log({ level: 'alarm', event: 'spends_unread', listed: search.listed });
    storage.transaction(() => {
      if (search.spends.length > 0) this.#report(search.spends);
      this.#lookAgain(waitsNext, search.unreadable, waiting);
      journal.setMeta(READ, JSON.stringify(kept.slice(-MOST_KEPT).map(idOf)));
      if (next > from) this.#advance(next);
    });
  }

  #read(): readonly Listed[] {
    const text = this.#tools.journal.getMeta(READ);
    return text === undefined ? [] : z.array(z.string()).parse(JSON.parse(text)).map(listedOf);
  }

  /** Each run retries unreadable entries. After three failed runs the operator is alerted. */
  #lookAgain(unread: readonly Listed[], unreadable: readonly Listed[], waiting: readonly Listed[]): void {
    const { agenda } = this.#tools;
    for (const entry of waiting) if (!unread.includes(entry)) agenda.plan(UNREAD_SPEND, idOf(entry), null);
    for (const entry of unread) {
      const reason = unreadable.includes(entry) ? 'unreadable' : 'quorum_missing';
      const runs = agenda.failed(UNREAD_SPEND, idOf(entry), { reason }, true);
      if (runs > MOST_RUNS) agenda.plan(UNREAD_SPEND, idOf(entry), null);
    }
  }

  /** Freezes signing. Call inside a transaction. */
  #report(spends: readonly UnexplainedSpend[]): void {
    const { journal, log } = this.#tools;
    const { known } = this.#found();
    const shown = [...this.spends(), ...spends];
    const signatures = [...known, ...spends.map(({ signature }) => signature)].slice(-KEPT);
    journal.setMeta(FOUND, JSON.stringify({ spends: shown, known: signatures }));
    freeze(journal, UNEXPLAINED_SPEND, log);
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

const idOf = ({ signature, slot }: Listed): string => `${slot} ${signature}`;

function listedOf(id: string): Listed {
  const [slot = '0', signature = ''] = id.split(' ');
  return { signature, slot: BigInt(slot) };
}

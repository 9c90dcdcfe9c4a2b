/**
 * Decides whether this journal is complete, and whether signing and new operations are allowed. A journal that was
 * restored or emptied lacks its latest payments and would repeat them. So signing freezes when D1 or the chain has
 * changes that the journal lacks.
 * @module
 */

import { EXPIRY_BLOCKS } from '../../chain/solana/transaction.ts';
import { atPriority } from '../../providers/admission.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import { type History, type HistoryNode, orUnreadable, readLists, unionOf } from '../nodes/history.ts';
import { quorumOf, valuesOf } from '../nodes/quorum.ts';
import type { Journal } from './journal.ts';
import type { Kind, Landing, Operation, Signing } from './operation.ts';
import type { Log, Mirror } from './ports.ts';

export type JournalCheckPorts = {
  readonly journal: Journal;
  readonly mirror: Mirror;
  readonly log: Log;
  readonly history: History;
  /** A finalized transaction of any version; null while no quorum of nodes shows it. */
  transaction(
    signature: string,
  ): Promise<Pick<ChainTransaction, 'signers' | 'accounts' | 'preLamports'> | null>;
  /** Finalized lamports of the reserve. @throws AppError UPSTREAM_FAILED */
  balance(): Promise<bigint>;
  /** Block height of a quorum of nodes. @throws AppError UPSTREAM_FAILED */
  height(commitment: 'confirmed' | 'finalized'): Promise<bigint>;
  readonly reserveAddress: string;
  readonly now: () => number;
};

const FROZEN = 'frozen';
/** Meta key of the unexpected debits found during the current freeze. */
const DEBITS = 'unexpected_debits';
/** Meta key that is set once an empty journal is proven to be new, or the operator has confirmed it. */
const INITIALISED = 'begun';
/**
 * D1's mark when the loss was found. Restoring the storage to a time within this freeze is a new loss with a later
 * mark.
 */
const SUSPECT_MARK = 'doubted_mark';
/** Confirmed block height after the loss was found; empty until a quorum of nodes has shown it. */
const SUSPECT_HEIGHT = 'doubted_height';
/** Usual time between two blocks, in milliseconds. */
const BLOCK_MS = 400;
/** Maximum entries of each node's list that are searched for a transaction signed by the reserve. */
const HISTORY_SEARCH = 50;

export const frozenReason = (journal: Journal): string | undefined => journal.getMeta(FROZEN) || undefined;

const LOSSES = [
  'journal_behind_mirror',
  'journal_empty_but_reserve_has_signed',
  'journal_empty_but_history_pruned',
] as const;
type Loss = (typeof LOSSES)[number];

export function freeze(journal: Journal, reason: Loss | 'unexplained_spend', log: Log): void {
  journal.setMeta(FROZEN, reason);
  log({ level: 'alarm', event: 'signing_frozen', reason });
}

/** A transaction of the reserve that moved more than its operation reserves. Lamports as text; the time is ISO 8601. */
export type UnexpectedDebit = {
  readonly operation: string;
  readonly signature: string;
  readonly time: string;
  readonly moved: string;
  readonly reserved: string;
};

export const unexpectedDebits = (journal: Journal): readonly UnexpectedDebit[] =>
  JSON.parse(journal.getMeta(DEBITS) || '[]') as UnexpectedDebit[];

/** The reason of an earlier freeze is kept, because it decides which spends the operator sees. */
export function freezeByDebit(
  { journal, now, log }: { readonly journal: Journal; readonly now: () => number; readonly log: Log },
  { id: operation, reserved }: Operation,
  { signature }: Signing,
  { debit }: Landing,
): void {
  const earlier = unexpectedDebits(journal);
  if (earlier.some((each) => each.signature === signature)) return;
  const time = new Date(now()).toISOString();
  const found = { operation, signature, time, moved: debit.toString(), reserved: reserved.toString() };
  journal.setMeta(DEBITS, JSON.stringify([...earlier, found satisfies UnexpectedDebit]));
  const reason = 'unexpected_debit';
  if (frozenReason(journal) === undefined) journal.setMeta(FROZEN, reason);
  log({ level: 'alarm', event: 'signing_frozen', reason, operation });
}

/**
 * Ends a freeze. It does not assert that the journal is complete; the next check decides that.
 * @param earlier the reason of an earlier freeze, which continues
 */
export function liftFreeze(journal: Journal, earlier = ''): void {
  journal.setMeta(FROZEN, earlier);
  if (earlier === '') journal.setMeta(DEBITS, '');
}

export function unfreeze(journal: Journal): void {
  liftFreeze(journal);
  journal.queue.takeMark();
  journal.setMeta(INITIALISED, '1');
}

/** True if D1 or the chain has changes that the journal lacks. Its rows are then neither used nor shown. */
export function isSuspect(journal: Journal): boolean {
  const reason = frozenReason(journal);
  return LOSSES.some((loss) => loss === reason);
}

/** A value that differs for each loss; empty until a quorum of nodes has shown the height of this loss. */
export const suspectHeight = (journal: Journal): string => journal.getMeta(SUSPECT_HEIGHT) ?? '';

/** Keys of `meta` that survive when a lost journal is emptied, so its freeze continues. */
export const KEPT_WHEN_EMPTIED = [FROZEN, SUSPECT_MARK, SUSPECT_HEIGHT] as const;

/**
 * Why the operator must still wait before ending a freeze after a loss; undefined if the wait is over. A transaction
 * that only the lost journal recorded can land until its blockhash expires. Blocks decide this, not a clock, because
 * the chain may halt.
 * @param mark of D1 now
 * @throws AppError UPSTREAM_FAILED
 */
export async function tooEarly(
  journal: Journal,
  chain: { height(commitment: 'confirmed' | 'finalized'): Promise<bigint> },
  mark: number,
): Promise<string | undefined> {
  if (!isSuspect(journal)) return undefined;
  if (journal.getMeta(SUSPECT_MARK) !== String(mark)) noteLoss(journal, mark);
  await noteHeight(journal, chain);
  const left = BigInt(suspectHeight(journal)) + EXPIRY_BLOCKS - (await chain.height('finalized'));
  if (left < 0n) return undefined;
  const seconds = Math.ceil((Number(left + 1n) * BLOCK_MS) / 1_000);
  return `A transaction signed before the loss may still land. Solana needs ${left + 1n} more blocks. Retry in ${seconds} seconds.`;
}

function noteLoss(journal: Journal, mark: number): void {
  journal.setMeta(SUSPECT_MARK, String(mark));
  journal.setMeta(SUSPECT_HEIGHT, '');
}

/** Stores the block height of a loss once. If a quorum returns it late, the wait is longer. */
async function noteHeight(
  journal: Journal,
  chain: { height(commitment: 'confirmed'): Promise<bigint> },
): Promise<void> {
  if (journal.getMeta(SUSPECT_HEIGHT)) return;
  const height = await chain.height('confirmed');
  if (!journal.getMeta(SUSPECT_HEIGHT)) journal.setMeta(SUSPECT_HEIGHT, height.toString());
}

/**
 * Compares the journal with D1 and, if it is empty, with the chain. A journal that has lost rows is frozen.
 * @returns whether the journal is complete
 * @throws when the mirror or the chain cannot be read
 */
export async function checkJournal(ports: JournalCheckPorts): Promise<boolean> {
  if (isSuspect(ports.journal)) return noteHeight(ports.journal, ports).then(() => false);
  const mirrored = await ports.mirror.mark();
  // Compares the highest revision that was ever sent to the mirror, not the current one. A restored journal assigns new
  // revisions. Its current revision would later exceed the mirror's and hide the loss.
  if (mirrored > ports.journal.queue.offered()) return frozenFor(ports, 'journal_behind_mirror', mirrored);
  if (ports.journal.getMeta(INITIALISED)) return true;
  const lost = ports.journal.isEmpty() ? await lossOf(ports) : undefined;
  if (lost) return frozenFor(ports, lost, mirrored);
  ports.journal.setMeta(INITIALISED, '1');
  return true;
}

async function frozenFor(ports: JournalCheckPorts, reason: Loss, mark: number): Promise<false> {
  freeze(ports.journal, reason, ports.log);
  noteLoss(ports.journal, mark);
  await noteHeight(ports.journal, ports);
  return false;
}

/** Reason why an empty journal may have lost rows; undefined when the chain proves that the reserve has signed nothing. */
async function lossOf(ports: JournalCheckPorts): Promise<Loss | undefined> {
  const { history } = ports;
  const quorum = quorumOf(history.nodes.length);
  const lists = await readLists(history, quorum, async (node) => ({
    node,
    list: await node.signatures({ limit: HISTORY_SEARCH }),
  }));
  for (const entry of unionOf(lists.map(({ list }) => list))) {
    const shown = await orUnreadable(ports.transaction(entry.signature));
    if (shown === 'unreadable' || (!shown && (await history.isAbsent(entry)))) continue;
    if (!shown || shown.signers.includes(ports.reserveAddress)) return 'journal_empty_but_reserve_has_signed';
  }
  // A full page of other parties' transactions may hide an older transaction that the reserve signed.
  if (lists.some(({ list }) => list.length >= HISTORY_SEARCH)) return 'journal_empty_but_reserve_has_signed';
  const checks = await Promise.allSettled(lists.map(({ node, list }) => isWhole(ports, node, list)));
  if (valuesOf(checks).filter((isProven) => isProven).length >= quorum) return undefined;
  const unknown = checks.find((check) => check.status === 'rejected');
  if (unknown) throw unknown.reason;
  return 'journal_empty_but_history_pruned';
}

/**
 * Whether a node's list starts with the reserve's first transaction: the node keeps all history, or the balance before
 * the oldest transaction was zero. An empty list of a pruned node proves nothing unless the reserve is empty too.
 */
async function isWhole(
  ports: JournalCheckPorts,
  node: HistoryNode,
  list: readonly SignatureEntry[],
): Promise<boolean> {
  if ((await node.firstAvailableBlock()) === 0n) return true;
  const oldest = list.at(-1);
  if (!oldest) return (await ports.balance()) === 0n;
  const shown = await orUnreadable(ports.transaction(oldest.signature));
  if (!shown || shown === 'unreadable') return false;
  return shown.preLamports[shown.accounts.indexOf(ports.reserveAddress)] === 0n;
}

/** If a change waits longer than this for D1, new operations are refused, because callers could not read them. */
const MIRROR_PATIENCE_MS = 60_000;
/**
 * If D1 refuses this many rows, it is treated as unavailable, even if a probe succeeds: a full database may still
 * accept small writes.
 */
const MOST_SET_ASIDE = 20;

export type SigningGatePorts = JournalCheckPorts & {
  /** Whether a newer release has written the storage, which is then read-only. */
  readonly isNewerStorage: boolean;
  /** Whether every limit is configured as a number. */
  readonly hasLimits: boolean;
  /** True while the chain is not finalizing slots. A transaction signed now could stay undecided for hours. */
  isChainStalled(): boolean;
  isDisabled(kind: Kind): boolean;
};

/** Decides whether an operation may start or be signed. It is checked again right before a signature is stored. */
export class SigningGate {
  readonly #ports: SigningGatePorts;
  /** Once true, it stays true for the life of the instance. A failed check is repeated. */
  #isVerified = false;
  #checking: Promise<void> | undefined;

  constructor(ports: SigningGatePorts) {
    this.#ports = ports;
  }

  /** False while the journal is unverified or suspect: its rows are then not processed, used or shown. */
  isVerified(): boolean {
    return this.#isVerified && !isSuspect(this.#ports.journal);
  }

  async verify(): Promise<void> {
    // The storage of a newer release is never compared, because freezing would write to it.
    if (this.#isVerified || this.#ports.isNewerStorage) return;
    // A caller's read may start this check, but signing waits for it. So it runs as own work, which needs no caller's
    // budget.
    this.#checking ??= atPriority('own', () => this.#check()).finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  async #check(): Promise<void> {
    try {
      this.#isVerified = await checkJournal(this.#ports);
    } catch (error) {
      this.#ports.log({ level: 'warn', event: 'journal_unverified', error: String(error).slice(0, 200) });
    }
  }

  /**
   * The reason why operations of a kind cannot be signed, from this instance's state; undefined if signing is allowed.
   */
  stop(kind: Kind): string | undefined {
    const { journal, isNewerStorage, hasLimits } = this.#ports;
    if (isNewerStorage) return 'storage_newer';
    if (!hasLimits) return 'misconfigured';
    const frozen = frozenReason(journal);
    if (frozen) return frozen;
    if (!this.#isVerified) return 'unverified';
    return (this.#ports.isDisabled(kind) ? 'disabled' : journal.getMeta('paused')) || undefined;
  }

  async stopBeginning(kind: Kind): Promise<string | undefined> {
    const { journal, now } = this.#ports;
    await this.verify();
    const why = this.stop(kind);
    if (why) return why;
    if (this.#ports.isChainStalled()) return 'solana_stalled';
    const since = journal.queue.undeliveredSince();
    // A start in the future means that the clock was set back. The true wait is then unknown and may be too long.
    const isLate = since !== undefined && Math.abs(now() - since) > MIRROR_PATIENCE_MS;
    const isUnavailable = isLate || journal.queue.setAside(MOST_SET_ASIDE).length >= MOST_SET_ASIDE;
    return isUnavailable ? 'database_unavailable' : undefined;
  }
}

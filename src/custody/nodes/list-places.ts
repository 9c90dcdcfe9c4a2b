/**
 * Reads each node's list of transactions down from a stored place, one part per call. Anyone can make a list longer,
 * and a node can invent any number of entries. Neither prevents the other entries from being read.
 * @module
 */
import { failureReason } from '../../core/errors.ts';
import type { SignatureEntry } from '../../providers/solana-rpc.ts';
import { type Cursor, type HistoryNode, LIST_CHANGED, type Listed, pageDown } from './history.ts';

/** An entry of a node's list, as it is stored. */
export type Mark = { readonly signature: string; readonly slot: string };

/** How far one node's list has been read. It is stored as JSON for this node only. */
export type Place = {
  /** Where the pass continues; absent before its first entry. */
  readonly cursor?: Cursor;
  /** The newest entry of this pass that a quorum has shown: the head of the next pass. */
  readonly top?: Mark;
  /** Complete passes have read everything below this entry. A quorum has shown it, so no invented entry ends a pass. */
  readonly head?: Mark;
};

/** The entries of one page of a node's list that the current pass still has to read. */
export type Part = {
  readonly place: Place;
  /** Newest first. */
  readonly entries: readonly SignatureEntry[];
  /** Whether the pass ends with these entries. */
  readonly isLast: boolean;
  /** True if the list itself ends before it reaches the head or the bound. */
  readonly isListEnd: boolean;
  /** Number of entries that the caller takes, counted from the newest. */
  taken: number;
};

/** A signature alone does not identify a place: the bytes of a no-op may land later in another slot (SIMD-0290). */
export const isAtOrBelow = ({ signature, slot }: Listed, mark: Mark): boolean =>
  slot < BigInt(mark.slot) || (slot === BigInt(mark.slot) && signature === mark.signature);

/**
 * The next page below a place, down to the head or the bound.
 * @param isBelow true if an entry is older than all entries that the caller needs
 * @throws AppError UPSTREAM_FAILED
 */
export async function partBelow(
  node: HistoryNode,
  place: Place,
  isBelow: (entry: Listed) => boolean,
): Promise<Part> {
  const { cursor, head } = place;
  try {
    const { entries, next } = await pageDown((page) => node.signatures(page), cursor);
    const end = entries.findIndex(
      (entry) => isBelow(entry) || (head !== undefined && isAtOrBelow(entry, head)),
    );
    return {
      place,
      entries: end < 0 ? entries : entries.slice(0, end),
      isLast: end >= 0 || !next,
      isListEnd: end < 0 && !next,
      taken: 0,
    };
  } catch (error) {
    if (cursor === undefined || failureReason(error) !== LIST_CHANGED) throw error;
    return partBelow(node, againFrom(place), isBelow);
  }
}

/** The place from which the whole pass is read again. */
export const againFrom = ({ head }: Place): Place => (head ? { head } : {});

export const isPassed = ({ entries, isLast, taken }: Part): boolean => isLast && taken === entries.length;

/**
 * The place after the taken entries.
 * @param shown signature and slot of the transactions that a quorum has shown
 */
export function placeAfter(part: Part, shown: ReadonlyMap<string, bigint>): Place {
  const { entries, taken } = part;
  const { cursor, ...pass } = part.place;
  const read = entries.slice(0, taken);
  const newest = read.find(({ signature, slot }) => shown.get(signature) === slot);
  const top = pass.top ?? (newest && { signature: newest.signature, slot: newest.slot.toString() });
  const known = againFrom(part.place);
  if (isPassed(part)) return top ? { head: top } : known;
  const passed = [...(cursor ? [cursor.first] : []), ...read.map(({ signature }) => signature)];
  const [before, first] = passed.slice(-2);
  return before && first ? { cursor: { before, first }, ...(top ? { top } : {}), ...known } : part.place;
}

/**
 * Takes entries of each part in turn, until `most` are chosen. If an entry was already chosen, the turn uses the part's
 * next entry. Honest nodes list the same entries, so invented ones use only the turns of the node that lists them.
 * @param needsRead false for an entry that is passed without using a turn
 */
export function takeInTurn(
  parts: readonly Part[],
  chosen: Set<string>,
  most: number,
  needsRead: (entry: SignatureEntry) => boolean,
): void {
  for (let size = -1; size < chosen.size; ) {
    size = chosen.size;
    for (const part of parts) takeOne(part, chosen, most, needsRead);
  }
}

function takeOne(
  part: Part,
  chosen: Set<string>,
  most: number,
  needsRead: (entry: SignatureEntry) => boolean,
): void {
  for (; part.taken < part.entries.length; part.taken++) {
    const entry = part.entries[part.taken];
    if (!entry || !needsRead(entry) || chosen.has(entry.signature)) continue;
    if (chosen.size >= most) return;
    chosen.add(entry.signature);
    part.taken++;
    return;
  }
}

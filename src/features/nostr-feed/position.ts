/**
 * Positions in a feed. The order is newest first and, within a second, lowest id first (NIP-01).
 * @module
 */
export type Position = {
  /** Unix seconds. */
  readonly createdAt: number;
  readonly id: string;
};

type Placed = { readonly id: string; readonly created_at: number };

/** No event has this id: its position is after every event of the second. */
const LAST_ID = 'f'.repeat(64);

export const positionOf = ({ created_at, id }: Placed): Position => ({ createdAt: created_at, id });

export const endOfSecond = (createdAt: number): Position => ({ createdAt, id: LAST_ID });

export const isEndOfSecond = ({ id }: Position): boolean => id === LAST_ID;

/** Negative when `a` comes first. */
export const compare = (a: Position, b: Position): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** The position further down the feed; a missing one is the top. */
export const later = (a: Position | undefined, b: Position | undefined): Position | undefined =>
  a && b ? (compare(a, b) < 0 ? b : a) : (a ?? b);

export const isAfter = (event: Placed, position: Position | undefined): boolean =>
  position === undefined || compare(position, positionOf(event)) < 0;

/** The newest second that can contain events after the position; negative when there is none. */
export const newestSecond = (position: Position): number =>
  isEndOfSecond(position) ? position.createdAt - 1 : position.createdAt;

export const formatPosition = ({ createdAt, id }: Position): string => `${createdAt}.${id}`;

/** Parses `<created_at>.<id>`; undefined when malformed. */
export function parsePosition(text: string): Position | undefined {
  const match = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(text);
  return match ? { createdAt: Number(match[1]), id: match[2] ?? '' } : undefined;
}

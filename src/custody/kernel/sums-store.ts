/**
 * Rows that still count, added up where they lie: many may be open, and each would be read again for every new one.
 * The index holds what is added, so that no row is opened for it and nothing beside the rows has to be kept in step.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import type { SqlRow, Storage } from './ports.ts';
import type { Entry } from './spending-limits.ts';

/** Exact to 2^63: a sum beyond that is an error. */
const atoms = (member: string): string => `CAST(row ->> '$.${member}' AS INTEGER)`;
/** As text: the platform would round a number above 2^53. */
const sum = (member: string): string => `CAST(COALESCE(SUM(${atoms(member)}), 0) AS TEXT) AS ${member}`;
const STATE = "row ->> '$.state'";

export const SUMS_INDEX = `CREATE INDEX IF NOT EXISTS operations_sums ON operations
  (kind, ${STATE}, created_at, ${atoms('amount')}, ${atoms('reserved')}, ${atoms('unsettled')}) WHERE counts = 1`;

const SUMS = `SELECT kind, ${STATE} AS state, ${sum('amount')}, ${sum('reserved')}, ${sum('unsettled')}
  FROM operations WHERE counts = 1 AND (kind NOT IN ('swap', 'refund') OR created_at <= ?) GROUP BY kind, ${STATE}`;

/** An entry of long ago that moves nothing. */
export const NOTHING: Entry = {
  kind: 'swap',
  state: 'done',
  createdAt: 0,
  amount: lamports(0n),
  reserved: lamports(0n),
  unsettled: lamports(0n),
  cost: lamports(0n),
  releasedSlot: null,
};

/** One entry a kind and state, of all rows that count but the swaps and refunds made after `since`. */
export const olderSums = (exec: Storage['exec'], since: number): Entry[] =>
  exec(SUMS, since).map((row) => ({
    ...NOTHING,
    kind: String(row.kind) as Entry['kind'],
    state: String(row.state) as Entry['state'],
    amount: read(row, 'amount'),
    reserved: read(row, 'reserved'),
    unsettled: read(row, 'unsettled'),
  }));

const read = (row: SqlRow, member: string) => lamports(BigInt(String(row[member])));

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
  FROM operations WHERE counts = 1 AND created_at <= ? GROUP BY kind, ${STATE}`;

const text = (member: string): string => `COALESCE(row ->> '$.${member}', '0') AS ${member}`;

const RECENT = `SELECT kind, ${STATE} AS state, created_at, ${['amount', 'reserved', 'unsettled', 'cost'].map(text).join(', ')}
  FROM operations WHERE created_at > ?`;

/** An entry of long ago that moves nothing. */
export const NOTHING: Entry = {
  kind: '',
  state: 'done',
  createdAt: 0,
  amount: lamports(0n),
  reserved: lamports(0n),
  unsettled: lamports(0n),
  cost: lamports(0n),
  releasedSlot: null,
};

/** The operations made after `since`, whatever became of them. */
export const recentEntries = (exec: Storage['exec'], since: number): Entry[] =>
  exec(RECENT, since).map((row) => ({
    kind: String(row.kind),
    state: String(row.state) as Entry['state'],
    createdAt: Number(row.created_at),
    amount: read(row, 'amount'),
    reserved: read(row, 'reserved'),
    unsettled: read(row, 'unsettled'),
    cost: read(row, 'cost'),
    releasedSlot: null,
  }));

/** One entry for each kind and state, of the rows made until `since` that still count. */
export const olderSums = (exec: Storage['exec'], since: number): Entry[] =>
  exec(SUMS, since).map((row) => ({
    ...NOTHING,
    kind: String(row.kind),
    state: String(row.state) as Entry['state'],
    amount: read(row, 'amount'),
    reserved: read(row, 'reserved'),
    unsettled: read(row, 'unsettled'),
  }));

const read = (row: SqlRow, member: string) => lamports(BigInt(String(row[member])));

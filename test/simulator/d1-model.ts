/**
 * D1 with the service's own schema. Batches are atomic, a response may be lost after the commit, and an abandoned batch may
 * still be written later.
 * @module
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SqlRow } from '../../src/custody/kernel/ports.ts';
import { createDatabase, openD1, type Statement, TABLES } from '../kit/d1.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

export type D1Faults = {
  /** Chance that a call to a working D1 starts an outage. */
  readonly failing: number;
  readonly outageMs: number;
  /** Chance that a batch is committed, but its response is an error. */
  readonly lostAnswers: number;
  /** Chance that a batch returns an error and is committed some seconds later. */
  readonly lateCommits: number;
  /** The database is full: reads pass, writes do not. */
  readonly full?: boolean;
  /** Statements of the largest batch that it accepts; a probe has two. */
  readonly widest?: number;
};

/** The part of a D1Database that the mirror uses. */
export type D1Like = {
  prepare(sql: string): Statement;
  batch(list: readonly Statement[]): Promise<{ results: SqlRow[] }[]>;
};

type Traced = (label: string) => <T>(ask: () => Promise<T>) => Promise<T>;

export type D1Model = {
  readonly database: D1Like;
  /** The database as called by one instance of the custodian. */
  over(traced: Traced): D1Like;
  /** Rows of a table in the order of their ids, regardless of current faults. */
  rows(table: string): SqlRow[];
  /** The highest revision in any table. */
  highest(): number;
  /** Restores the rows of an earlier `remember`. */
  remember(): void;
  restore(): void;
  /** No call reaches the database for this number of milliseconds. */
  cutOff(ms: number): void;
};

let opened: { schema: string; db: DatabaseSync } | undefined;

/** One database per process; a new model starts with it empty. */
export function createD1Model(p: {
  scheduler: Scheduler;
  random: Random;
  /** Text of schema.sql. */
  schema: string;
  faults: () => D1Faults;
  /** Called for each batch that is refused because of its size. */
  onTooWide?: () => void;
  /** Called for the first smaller batch that is accepted after such a refusal, while the other rows still wait. */
  onPart?: () => void;
}): D1Model {
  const { scheduler, random, schema } = p;
  // For a few rows, an index costs more than it saves.
  if (opened?.schema !== schema)
    opened = { schema, db: createDatabase(schema.replaceAll(/^CREATE INDEX[^;]*;/gm, '')) };
  let isParting = false;
  let downUntil = 0;
  let cutOffUntil = 0;
  let wellUntil = 0;

  function reach(): void {
    const { failing, outageMs } = p.faults();
    if (scheduler.now() >= wellUntil && random.chance(failing)) {
      downUntil = scheduler.now() + outageMs;
      wellUntil = downUntil + 3 * outageMs;
    }
    if ((failing > 0 && scheduler.now() < downUntil) || scheduler.now() < cutOffUntil)
      throw new Error('D1_ERROR: network connection lost');
  }

  const {
    model: d1,
    rows,
    clear,
    remember,
  } = openD1(
    {
      reach,
      write(list, commit) {
        const { lostAnswers, lateCommits, full, widest = list.length } = p.faults();
        if (list.length > widest) {
          isParting = true;
          p.onTooWide?.();
          throw new Error('D1_ERROR: D1 DB exceeded its CPU time limit and was reset');
        }
        if (full) throw new Error('D1_ERROR: database or disk is full: SQLITE_FULL');
        if (random.chance(lateCommits)) {
          scheduler.after(random.between(50, 8_000), () => {
            try {
              commit();
            } catch {
              // A constraint refused the late batch; no caller waits for the error.
            }
          });
          throw new Error('D1_ERROR: timed out');
        }
        const results = commit();
        // The probe after a refusal has two statements, a batch of rows at least three.
        if (isParting && list.length > 2) {
          isParting = false;
          p.onPart?.();
        }
        if (random.chance(lostAnswers)) throw new Error('D1_ERROR: network connection lost');
        return results;
      },
    },
    opened.db,
  );
  clear();
  let restore = (): void => undefined;

  return {
    database: d1,
    rows,
    highest: () =>
      Math.max(...TABLES.flatMap((table) => rows(table).map(({ revision }) => Number(revision ?? 0))), 0),
    over: (traced) => ({
      prepare(sql) {
        const named = (statement: ReturnType<typeof d1.prepare>): ReturnType<typeof d1.prepare> => ({
          ...statement,
          bind: (...values) => named(statement.bind(...values)),
          first: () => traced('d1.first')(() => statement.first()),
          all: () => traced('d1.all')(() => statement.all()),
        });
        return named(d1.prepare(sql));
      },
      batch: (list) => traced(`d1.batch of ${list.length}`)(() => d1.batch(list)),
    }),
    cutOff(ms) {
      cutOffUntil = scheduler.now() + ms;
    },
    remember() {
      restore = remember();
    },
    restore: () => restore(),
  };
}

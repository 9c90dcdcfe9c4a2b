/**
 * A desk takes requests of one area inside the custodian and does their work in the background: payments, claims.
 * @module
 */
import type { Begin } from './begin-operation.ts';
import type { Journal } from './journal.ts';
import type { Log, Storage } from './ports.ts';

/** What a desk may use of the custodian that it stands in. */
export type DeskTools = {
  readonly journal: Journal;
  readonly storage: Storage;
  /** Begins an operation and takes it as far as it goes at once. */
  readonly begin: Begin;
  readonly now: () => number;
  readonly log: Log;
};

export type Desk = {
  /** When it wants to run, in Unix milliseconds; undefined when nothing waits. */
  nextAt(): number | undefined;
  /** One bounded piece of its work. A failure is tried again with the next alarm. */
  run(): Promise<void>;
};

/** A desk that must be there. @throws Error where its area is not configured */
export function desk<T>(given: T | undefined): T {
  if (given === undefined) throw new Error('this area is not configured');
  return given;
}

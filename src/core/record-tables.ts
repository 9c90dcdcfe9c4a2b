/**
 * The D1 tables that mirror the custodian's rows. A new kind of payment request starts here: the compiler then requires
 * its product. CONTRIBUTING.md names the other files.
 * @module
 */

export const REQUEST_TABLES = { token: 'invoices', listing: 'listings' } as const;
export type RequestKind = keyof typeof REQUEST_TABLES;
export const REQUEST_KINDS = Object.keys(REQUEST_TABLES) as readonly RequestKind[];

/**
 * Tables that mirror rows other than operations. Each has `id`, `revision` and `journal`, the custodian's row as JSON.
 */
export const RECORD_TABLES = [
  ...new Set(Object.values(REQUEST_TABLES)),
  ...(['tokens', 'refunds', 'asry_claims', 'asry_epochs', 'proofs'] as const),
] as const;
export type RecordTable = (typeof RECORD_TABLES)[number];

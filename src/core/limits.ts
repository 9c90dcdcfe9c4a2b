/** Bounds shared by more than one part of the service. A bound with one user stands beside that user. */

/** Largest request body in bytes; every JSON body of the contract fits many times over. */
export const MAX_BODY_BYTES = 16 * 1024;
/** Deepest nesting and most members of a request body. */
export const MAX_JSON_DEPTH = 8;
export const MAX_JSON_KEYS = 64;

/** Largest upstream answer in bytes, and the longest wait for it, body included, in milliseconds. */
export const MAX_UPSTREAM_BYTES = 2 * 1024 * 1024;
export const UPSTREAM_TIMEOUT_MS = 8_000;

/** How long a call may wait for the outcome of work that runs elsewhere before it is told to come back. */
export const MAX_WAIT_MS = 25_000;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The window in which the routing provider counts our quotes. */
export const QUOTE_WINDOW_MS = 2 * HOUR_MS;

/** Durations in milliseconds that several parts of the service use. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** How long a payment request stays open. */
export const REQUEST_LIFE_MS = 30 * 60_000;

/** The custodian signs a proof of the reserve this long after the last proof, and after each mint. */
export const PROOF_EVERY_MS = 60 * 60_000;

/** Maximum wait of a call for work elsewhere. After it, the response tells the caller to retry. */
export const MAX_WAIT_MS = 25_000;

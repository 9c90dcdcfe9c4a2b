/**
 * Why an operation waits, failed or awaits the operator. Code compares members of a union. D1, logs and callers get a
 * stable string.
 * @module
 */

/** Why an operation is held until the operator decides. */
const HELD = [
  /** For hours, a quorum of nodes has not proven the operation's outcome. */
  'unproven',
  /** What the operation is owed, such as a swap's Bitcoin, has not arrived for hours. */
  'unsettled',
  /** This release does not know the operation's kind, state or route. */
  'unknown_state',
] as const;
export type Held = (typeof HELD)[number];

/**
 * `stopped`: what stopped signing. `limit`: the limit that is used up. `upstream`: why an upstream failed. `code`: a code of
 * the kernel or of the operation's kind, such as `expired` or `quote_too_expensive`.
 */
export type Reason =
  | { readonly type: 'stopped' | 'limit' | 'upstream' | 'code'; readonly by: string }
  | { readonly type: 'held'; readonly by: Held };

export const held = (by: Held): Reason => ({ type: 'held', by });
export const upstream = (by: string): Reason => ({ type: 'upstream', by });
export const code = (by: string): Reason => ({ type: 'code', by });

/**
 * An operation planned for an earlier key ends, because the current key must not sign it. Its debt or request starts a
 * new operation.
 */
export const KEY_ROTATED = code('key_rotated');

export const isRotated = (reason: Reason | null): boolean =>
  reason?.type === KEY_ROTATED.type && reason.by === KEY_ROTATED.by;

export const isHeld = (reason: Reason | null): boolean => reason?.type === 'held';

/** `held_unproven`, `limit_day`, `quote_too_expensive` ... */
export function reasonText(reason: Reason): string;
export function reasonText(reason: Reason | null): string | null;
export function reasonText(reason: Reason | null): string | null {
  return reason && (reason.type === 'code' ? reason.by : `${reason.type}_${reason.by}`);
}

/** Parses a stored reason. A hold that this release does not know becomes `unknown_state`. */
export function parseReason(text: string): Reason {
  const [, type, by = ''] = /^(stopped|limit|upstream|held)_(.+)$/.exec(text) ?? [];
  if (type === 'held') return held(HELD.find((known) => known === by) ?? 'unknown_state');
  return type === undefined ? code(text) : { type: type as 'stopped' | 'limit' | 'upstream', by };
}

/**
 * Why an operation waits, failed or awaits the operator. Code compares members of a union. D1, logs and callers see a
 * text, which is stable.
 * @module
 */

/** What the operator must decide before the operation continues. */
const HELD = [
  /** For hours, no quorum of nodes has proven its outcome. */
  'unproven',
  /** For hours, what the operation is owed has not arrived, such as the Bitcoin of a swap. */
  'unsettled',
  /** This release does not know its kind, state or route. */
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
 * Why an operation planned for an earlier key ended: no key may sign it. The debt or request behind it begins a new
 * one.
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

/** The reason that a stored text states. A hold that this release does not know becomes `unknown_state`. */
export function parseReason(text: string): Reason {
  const [, type, by = ''] = /^(stopped|limit|upstream|held)_(.+)$/.exec(text) ?? [];
  if (type === 'held') return held(HELD.find((known) => known === by) ?? 'unknown_state');
  return type === undefined ? code(text) : { type: type as 'stopped' | 'limit' | 'upstream', by };
}

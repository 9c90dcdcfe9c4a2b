/**
 * Why an operation waits, failed or awaits the operator. Code compares members of a union. D1, logs and callers see a
 * text, which is stable.
 * @module
 */

/** What the operator must decide before the operation continues. */
export type Held =
  /** It is unknown whether the operation was signed before the journal was lost. */
  | 'reconciled'
  /** For hours, no quorum of nodes has proven its outcome. */
  | 'unproven'
  /** For hours, its counterpart has not arrived. */
  | 'unsettled'
  /** This release does not know its kind, state or route. */
  | 'unknown_state';

export type Reason =
  /** Signing was stopped. */
  | { readonly type: 'stopped'; readonly by: string }
  /** A limit had no room. */
  | { readonly type: 'limit'; readonly limit: string }
  /** An upstream failed, for this short reason. */
  | { readonly type: 'upstream'; readonly reason: string }
  | { readonly type: 'held'; readonly by: Held }
  /** A code of the kernel or of the operation's kind, such as `expired` or `quote_too_expensive`. */
  | { readonly type: 'code'; readonly code: string };

export const held = (by: Held): Reason => ({ type: 'held', by });
export const upstream = (reason: string): Reason => ({ type: 'upstream', reason });
export const code = (text: string): Reason => ({ type: 'code', code: text });

export const isHeld = (reason: Reason | null): boolean => reason?.type === 'held';

/**
 * Whether the operator must check if it was signed before the journal was lost. Bytes that are signed already are still sent
 * and watched; only their landing or the operator ends the hold.
 */
export const isReconciled = (reason: Reason | null): boolean =>
  reason?.type === 'held' && reason.by === 'reconciled';

const HELD: Readonly<Record<Held, true>> = {
  reconciled: true,
  unproven: true,
  unsettled: true,
  unknown_state: true,
};

/** `held_unproven`, `limit_day`, `quote_too_expensive` ... */
export function reasonText(reason: Reason): string;
export function reasonText(reason: Reason | null): string | null;
export function reasonText(reason: Reason | null): string | null {
  switch (reason?.type) {
    case undefined:
      return null;
    case 'stopped':
    case 'held':
      return `${reason.type}_${reason.by}`;
    case 'limit':
      return `limit_${reason.limit}`;
    case 'upstream':
      return `upstream_${reason.reason}`;
    case 'code':
      return reason.code;
  }
}

/** The reason of a stored text. A hold that this release does not know stays a hold. */
export function parseReason(text: string): Reason {
  const [, type, value = ''] = /^(stopped|limit|upstream|held)_(.+)$/.exec(text) ?? [];
  switch (type) {
    case 'stopped':
      return { type, by: value };
    case 'limit':
      return { type, limit: value };
    case 'upstream':
      return { type, reason: value };
    case 'held':
      return held(Object.hasOwn(HELD, value) ? (value as Held) : 'unknown_state');
    default:
      return code(text);
  }
}

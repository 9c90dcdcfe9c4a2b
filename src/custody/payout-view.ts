/**
 * The state of a payout, as callers see it. The custodian computes it from its own rows, and the API from the D1 rows.
 * @module
 */
import type { ClaimPayoutView } from './api.ts';
import { parseReason, type Reason } from './kernel/reason.ts';

type PayoutRow = {
  readonly part: number;
  readonly atoms: bigint;
  readonly state: PayoutState;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly paidAt: number | null;
};

/**
 * owed   promised; no transaction is signed for it
 * begun  an operation is paying it
 * paid   the recipient has it
 */
export type PayoutState = 'owed' | 'begun' | 'paid';

type PayoutOperation = {
  /** Null before it is signed. */
  readonly signature: string | null;
  readonly reason: string | null;
  /** When the payout became final, in Unix milliseconds. */
  readonly finishedAt: number | null;
};

/** Why a started payout is still unsigned. */
const WAITS: Readonly<Record<Reason['type'], string | undefined>> = {
  limit: 'daily_limit',
  stopped: 'paused',
  held: 'paused',
  upstream: undefined,
  code: undefined,
};

/**
 * The state of a payout, from its row and its operation. Either can be newer than the other.
 * @param operation undefined before an operation starts
 */
export function payoutView(
  { part, atoms, reason, createdAt, state, paidAt }: PayoutRow,
  operation: PayoutOperation | undefined,
): ClaimPayoutView {
  const { signature = null, finishedAt = null } = operation ?? {};
  const base = { part, atoms, createdAtMs: createdAt };
  if (state === 'paid' || (state === 'begun' && signature !== null))
    return { ...base, status: 'sent', signature, reason: null, paidAtMs: paidAt ?? finishedAt };
  const unsent = { ...base, signature: null, paidAtMs: null };
  const waits = {
    // A failed read is retried within seconds; neither the caller nor the operator needs to act.
    owed: reason === 'unread' ? null : reason,
    begun: WAITS[parseReason(operation?.reason ?? '').type],
  }[state];
  return waits
    ? { ...unsent, status: 'owed', reason: waits }
    : { ...unsent, status: 'pending', reason: null };
}

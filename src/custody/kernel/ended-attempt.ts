/**
 * The row of an operation after an attempt that moved nothing: planned again, or failed. Pure functions.
 * @module
 */
import { type Lamports, lamports } from '../../core/amount.ts';
import type { KindRules, Operation } from './operation.ts';
import { code } from './reason.ts';

const NONE = lamports(0n);

/**
 * The operation ended before any lamports left the reserve, so its reservation ends and the limits no longer count it.
 */
export const nothingLeft = (op: Operation): Operation => ({
  ...op,
  state: 'failed',
  detail: 'refused',
  reserved: NONE,
  unsettled: NONE,
  cost: NONE,
  amount: NONE,
  dueAt: null,
  plan: { ...op.plan, askedLamports: op.amount.toString() },
});

/**
 * The attempt moved nothing: plans the operation again, or fails it. An attempt that lacked a signature when it expired
 * does not count against `maxAttempts`.
 */
export function ended(
  op: Operation,
  reason: string,
  slot: bigint | null,
  rules: KindRules,
  now: number,
): Operation {
  const isRejected = reason === 'rejected';
  const isCounted = isRejected || !op.signing?.lacksSignature;
  const mayRepeat = !isCounted || (op.attempt < rules.maxAttempts && !(isRejected && rules.endsWhenRejected));
  if (mayRepeat) {
    return {
      ...op,
      state: 'planned',
      detail: 'planned',
      reason: isCounted ? code(reason) : op.reason,
      attempt: isCounted ? op.attempt + 1 : op.attempt,
      signing: null,
      unsettled: NONE,
      cost: NONE,
      looks: 0,
      dueAt: now,
    };
  }
  return {
    ...nothingLeft(op),
    detail: reason,
    reason: code(reason),
    releasedSlot: slot,
    cost: isRejected ? lostFee(op) : NONE,
  };
}

/** The network keeps the fee of a transaction that failed on the chain. */
function lostFee({ cost, reserved, amount }: Operation): Lamports {
  const fee = lamports(reserved - amount);
  return fee < cost ? fee : cost;
}

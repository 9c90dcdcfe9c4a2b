/**
 * Refusals that every kind shares. A module with its own codes translates them.
 * @module
 */
import { DAY_MS } from '../../core/limits.ts';
import type { Refusal } from '../api.ts';
import { type SpendingVerdict, solText } from './spending-limits.ts';

/** Signing is stopped for now. */
export const signingStopped = (reason: string): Refusal => ({
  code: 'SIGNING_PAUSED',
  message: 'Signing is paused. Nothing was reserved or signed.',
  retryAfterSeconds: 300,
  details: { reason },
});

export const upstreamRefusal = (reason: string): Refusal => ({
  code: 'UPSTREAM_FAILED',
  message: 'The bridge or the chain did not answer as expected.',
  details: { reason },
});

/** The refusal for a verdict of the spending limits; it names the limit. */
export function spendingRefusal(verdict: Exclude<SpendingVerdict, { ok: true }>, now: number): Refusal {
  switch (verdict.code) {
    case 'INSUFFICIENT_BALANCE': {
      const left = verdict.available > 0n ? verdict.available : 0n;
      return {
        code: verdict.code,
        message: `The reserve can spend ${solText(left)} now, after its fee reserve and floor.`,
        details: { availableLamports: left.toString() },
      };
    }
    case 'AMOUNT_TOO_LARGE':
      return {
        code: verdict.code,
        message: `One operation may move ${solText(verdict.maximum)} at most.`,
        details: { maxAmountLamports: verdict.maximum.toString() },
      };
    case 'LIMIT_REACHED': {
      const { limit, unit, maximum, used, availableAt } = verdict;
      const seconds = Math.max(Math.ceil((availableAt - now) / 1_000), 1);
      const retryAfterSeconds = Math.min(seconds, DAY_MS / 1_000);
      const text = (atoms: bigint) => (unit === 'lamports' ? solText(atoms) : String(atoms));
      const suffix = unit === 'lamports' ? 'Lamports' : '';
      return {
        code: 'SPENDING_LIMIT_REACHED',
        message: `The ${limit.replace('_', ' per ')} limit of ${text(maximum)} has no room: ${text(used)} are in use.`,
        retryAfterSeconds,
        details: {
          limit,
          [`maximum${suffix}`]: maximum.toString(),
          [`used${suffix}`]: used.toString(),
          nextAvailableAt: new Date(now + retryAfterSeconds * 1_000).toISOString(),
        },
      };
    }
    case 'BALANCE_OUTDATED':
      return {
        code: 'UPSTREAM_FAILED',
        message: 'The chain does not show the outcome of earlier operations yet.',
        retryAfterSeconds: 5,
        details: { reason: 'balance_outdated' },
      };
  }
}

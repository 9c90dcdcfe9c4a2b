import { lamports } from '../../src/core/amount.ts';
import type { CustodyLimits } from '../../src/custody/limits.ts';

const SOL = 10n ** 9n;

/** Limits of a test's custodian. Those that a test does not set are too high to be reached. */
export const LIMITS: CustodyLimits = {
  operation: 2n * SOL,
  hour: 4n * SOL,
  day: 10n * SOL,
  unsettled: 4n * SOL,
  cost_day: SOL / 10n,
  creations_day: 10_000n,
  refunds_day: 10n ** 12n,
  payouts_day: 10_000n,
  rent_day: 10n ** 12n,
  failed_payouts_day: 10n ** 12n,
  floor: lamports(SOL / 10n),
  operatingFloat: lamports(0n),
};

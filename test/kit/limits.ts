import { lamports } from '../../src/core/amount.ts';
import type { CustodyLimits } from '../../src/custody/budgets.ts';

const SOL = 10n ** 9n;

/** Limits of a test's custodian. Caps that a test does not set are too high to be reached. */
export const LIMITS: CustodyLimits = {
  maxOperation: lamports(2n * SOL),
  maxHour: lamports(4n * SOL),
  maxDay: lamports(10n * SOL),
  maxUnsettled: lamports(4n * SOL),
  maxCostDay: lamports(SOL / 10n),
  maxCostBps: 200,
  floor: lamports(SOL / 10n),
  operatingFloat: lamports(0n),
  maxRefundsDay: lamports(10n ** 12n),
  maxCreationsDay: 10_000n,
  maxPayoutsDay: 10_000n,
};

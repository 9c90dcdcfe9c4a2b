import { lamports } from '../../src/core/amount.ts';
import { type LimitName, OPERATION_LIMITS } from '../../src/core/operation-limits.ts';
import type { CustodyLimits } from '../../src/custody/limits.ts';

const SOL = 10n ** 9n;
const UNREACHED = 10n ** 12n;

/** Limits of a test's custodian. Those that a test does not set are too high to be reached. */
export const LIMITS: CustodyLimits = {
  ...(Object.fromEntries(Object.keys(OPERATION_LIMITS).map((name) => [name, UNREACHED])) as Record<
    LimitName,
    bigint
  >),
  operation: 2n * SOL,
  hour: 4n * SOL,
  day: 10n * SOL,
  unsettled: 4n * SOL,
  cost_day: SOL / 10n,
  floor: lamports(SOL / 10n),
  operatingFloat: lamports(0n),
};

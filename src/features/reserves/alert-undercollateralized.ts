import { getSummary, type SummaryDeps } from './get-summary.ts';

export type WatchBackingDeps = SummaryDeps & {
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
};

/**
 * Reads the summary again, which also serves callers of the next minute, and alerts the operator when tokens
 * are not covered.
 */
export async function alertUndercollateralized(d: WatchBackingDeps): Promise<void> {
  const { gapSatoshis, absrSupplySatoshis, absrTokenSupplyAtoms } = await getSummary(d, true);
  if (gapSatoshis !== null && BigInt(gapSatoshis) < 0n) {
    d.log({
      level: 'alarm',
      event: 'supply_above_reserve',
      gapSatoshis,
      reserveSatoshis: absrSupplySatoshis,
      supplyAtoms: absrTokenSupplyAtoms,
    });
  }
}

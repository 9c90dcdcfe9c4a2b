import { rewardsAt } from '../../src/custody/asry/epochs.ts';
import { Chart } from './chart.tsx';
import { grouped } from './format.ts';

const POINTS = 41;
/** The chart ends at this multiple of the depth, where three quarters of the cap are given out. */
const SPAN = 3n;

export type Curve = {
  readonly cap: bigint;
  readonly depth: bigint;
  readonly deposits: bigint;
  readonly decimals: number;
};

const DOLLAR_ATOMS = 1_000_000;
const dollars = (atoms: bigint): number => Number(atoms) / DOLLAR_ATOMS;

/** Rewards over the deposits of the epoch, in floats for the picture; claims use whole atoms. */
export function AsryCurveChart({ curve }: { curve: Curve }) {
  const most = curve.deposits > SPAN * curve.depth ? curve.deposits * 2n : SPAN * curve.depth;
  const at = Array.from({ length: POINTS }, (_, index) => (most * BigInt(index)) / BigInt(POINTS - 1));
  const show = (value: number): string => grouped(String(Math.round(value)));
  return (
    <Chart
      title="ASRY given out over the payments of the epoch"
      xName="Payments, USD"
      xIs="number"
      x={at.map(dollars)}
      lines={[
        {
          name: 'ASRY given out',
          asset: 'asry',
          values: at.map((deposits) => Number(rewardsAt(curve, deposits)) / 10 ** curve.decimals),
        },
      ]}
      show={show}
      showX={(value) => `$${show(value)}`}
      markX={{ at: dollars(curve.deposits), name: 'you are here' }}
    />
  );
}

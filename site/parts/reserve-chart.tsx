import type { ProofHistory } from '../../packages/client/src/index.ts';
import { Chart } from './chart.tsx';
import { count, fromUnixSeconds, instant } from './format.ts';

/** Reserve and supply, as signed in each archived proof. */
export function ReserveChart({ proofs }: { proofs: ProofHistory['proofs'] }) {
  const rows = [...proofs].reverse();
  return (
    <Chart
      title="Sats in the reserve and ABSR supply at each signed proof"
      xName="Proof signed"
      xIs="time"
      x={rows.map(({ timestamp }) => Math.floor(Date.parse(timestamp) / 1000))}
      lines={[
        {
          name: 'Reserve, sats',
          asset: 'btc',
          values: rows.map(({ figures }) => Number(figures.reserveSatoshis)),
        },
        {
          name: 'ABSR supply',
          asset: 'absr',
          values: rows.map(({ figures }) =>
            figures.absrSupplyAtoms === null
              ? null
              : Number(figures.absrSupplyAtoms) / 10 ** (figures.absrDecimals ?? 0),
          ),
        },
      ]}
      show={count}
      showX={(at) => instant(fromUnixSeconds(at))}
      stepped
    />
  );
}

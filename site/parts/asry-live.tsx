import type { AsryEpochs } from '../../packages/client/src/index.ts';
import { formatAmount } from '../../src/core/amount.ts';
import { entitlementOf, receiveFee } from '../../src/custody/asry/epochs.ts';
import { FIGURES_POLL_MS, useAnswer } from '../api/use-answer.ts';
import { AsryCurveChart } from './asry-curve-chart.tsx';
import { count, counted, grouped, instant, rounded, significant, units } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';
import { Table } from './table.tsx';
import { Tile } from './tile.tsx';

const USD_DECIMALS = 6;

type Epoch = NonNullable<AsryEpochs['current']>;

const asry = (atoms: string, epoch: Epoch, digits = 2): string =>
  grouped(rounded(formatAmount(BigInt(atoms), epoch.asryDecimals), digits));
const dollars = (atoms: string): string => units(atoms, USD_DECIMALS);

const curveOf = (epoch: Epoch) => ({
  cap: BigInt(epoch.capAtomic),
  depth: BigInt(epoch.depthAtomic),
  deposits: BigInt(epoch.depositsAtomic),
  decimals: epoch.asryDecimals,
});

/** Rounded to four digits; the exact value on hover. */
const Asry = ({ atoms, epoch }: { atoms: string; epoch: Epoch }) => (
  <span title={`${units(atoms, epoch.asryDecimals)} ASRY`}>
    {grouped(significant(formatAmount(BigInt(atoms), epoch.asryDecimals), 4))}
  </span>
);

export function AsryEpoch() {
  const answer = useAnswer('getAsryEpoch', {}, FIGURES_POLL_MS);
  const epoch = answer.value?.current;
  if (answer.value === null && answer.failure !== null)
    return <Failed failure={answer.failure} retry={answer.refresh} />;
  if (answer.value !== null && !epoch)
    return <p class="empty">No epoch runs now. Deposits earn nothing until the next one starts.</p>;
  return (
    <>
      <div class="tiles">
        <Tile name="Epoch" value={epoch ? String(epoch.epoch) : undefined}>
          {epoch ? (
            <span>
              until <Moment iso={epoch.ends_at} />
            </span>
          ) : null}
        </Tile>
        <Tile name="Cap of the epoch" value={epoch ? asry(epoch.capAtomic, epoch, 0) : undefined} unit="ASRY">
          approached, never reached
        </Tile>
        <Tile
          name="Earned so far"
          value={epoch ? <Asry atoms={epoch.entitledAtomic} epoch={epoch} /> : undefined}
          unit="ASRY"
        >
          {epoch ? `${counted(epoch.claims, 'claim')}, ${dollars(epoch.depositsAtomic)} USD` : null}
        </Tile>
        <Tile
          name="The next dollar earns"
          value={epoch ? <Asry atoms={epoch.nextDollarAsryAtomic} epoch={epoch} /> : undefined}
          unit="ASRY"
        >
          before the fee of 0.05 %
        </Tile>
      </div>
      <AsOf at={answer.value?.as_of ?? null} away={answer.failure !== null} />
    </>
  );
}

export function AsryCurveView() {
  const answer = useAnswer('getAsryEpoch', {}, FIGURES_POLL_MS);
  const epoch = answer.value?.current;
  if (epoch) return <AsryCurveChart curve={curveOf(epoch)} />;
  return answer.value === null && answer.failure === null ? (
    <div class="chart awaited">
      <div class="plot">
        <Waiting what="Reading the epoch." />
      </div>
    </div>
  ) : (
    <p class="empty">The curve is shown while an epoch runs.</p>
  );
}

/** The reward of a deposit if it were claimed now. */
export function Earnings({ epoch, deposit }: { epoch: Epoch; deposit: bigint }) {
  const curve = curveOf(epoch);
  const fee = receiveFee(deposit);
  const net = deposit - fee;
  const earned = entitlementOf(curve, curve.deposits, net);
  return (
    <dl class="receipt" aria-label="Preview">
      <div>
        <dt>Fee, 0.05 % rounded up</dt>
        <dd>{dollars(fee.toString())} USD</dd>
      </div>
      <div>
        <dt>Counts</dt>
        <dd>{dollars(net.toString())} USD</dd>
      </div>
      <div class="total">
        <dt>Earns</dt>
        <dd>
          <Asry atoms={earned.toString()} epoch={epoch} /> ASRY
        </dd>
      </div>
    </dl>
  );
}

export function PastEpochs() {
  const answer = useAnswer('getAsryEpoch', {});
  if (answer.value === null) return answer.failure === null ? <Waiting what="Reading past epochs." /> : null;
  return (
    <Table
      label="Past epochs"
      columns={[
        { name: 'Epoch' },
        { name: 'Ended' },
        { name: 'Deposits, USD', right: true },
        { name: 'Earned, ASRY', right: true },
        { name: 'Paid, ASRY', right: true },
        { name: 'Claims', right: true },
      ]}
      rows={answer.value.past.map((epoch) => [
        String(epoch.epoch),
        instant(epoch.ends_at),
        dollars(epoch.depositsAtomic),
        asry(epoch.entitledAtomic, epoch),
        asry(epoch.paidAtomic, epoch),
        count(epoch.claims),
      ])}
      empty="This is the first epoch."
    />
  );
}

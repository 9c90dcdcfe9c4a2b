import type { AsryEpochs } from '../../packages/client/src/index.ts';
import { formatAmount } from '../../src/core/amount.ts';
import { entitlementOf, receiveFee } from '../../src/custody/asry/epochs.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { AsryCurveChart } from './asry-curve-chart.tsx';
import { count, counted, grouped, instant, rounded, significant, units } from './format.ts';
import { Moment } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { Table } from './table.tsx';
import { Tile } from './tile.tsx';

const USD_DECIMALS = 6;

type Epoch = NonNullable<AsryEpochs['current']>;

const asry = (atoms: string, epoch: Epoch, digits = 2): string =>
  grouped(rounded(formatAmount(BigInt(atoms), epoch.asryDecimals), digits));
const dollars = (atoms: string): string => units(atoms, USD_DECIMALS);

/** The day of an ISO 8601 time, in UTC. */
const dayOf = (iso: string): string => iso.slice(0, 10);

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
  return (
    <Loaded
      query={useQuery('getAsryEpoch', {}, FIGURES_POLL_MS)}
      waiting="Reading the epoch."
      show={({ current }) =>
        current === null ? (
          <p class="empty">No epoch is running now. Payments earn nothing until the next one starts.</p>
        ) : (
          <EpochTiles epoch={current} />
        )
      }
    />
  );
}

const EpochTiles = ({ epoch }: { epoch: Epoch }) => (
  <div class="tiles">
    <Tile
      name="The next dollar earns"
      value={<Asry atoms={epoch.nextDollarAsryAtomic} epoch={epoch} />}
      unit="ASRY"
    >
      before the fee of 0.05 %
    </Tile>
    <Tile name="Cap of the epoch" value={asry(epoch.capAtomic, epoch, 0)} unit="ASRY">
      approached, never reached
    </Tile>
    <Tile name="Earned so far" value={<Asry atoms={epoch.entitledAtomic} epoch={epoch} />} unit="ASRY">
      {`${counted(epoch.claims, 'claim')}, ${dollars(epoch.depositsAtomic)} USD`}
    </Tile>
    <Tile name="Rewards until" value={dayOf(epoch.ends_at)}>
      epoch {epoch.epoch}, a period of rewards, ends <Moment iso={epoch.ends_at} />
    </Tile>
  </div>
);

export const AsryCurveView = () => (
  <Loaded
    query={useQuery('getAsryEpoch', {}, FIGURES_POLL_MS)}
    waiting="Reading the epoch."
    hasAge={false}
    show={({ current }) =>
      current === null ? (
        <p class="empty">The curve is shown while an epoch is running.</p>
      ) : (
        <AsryCurveChart curve={curveOf(current)} />
      )
    }
  />
);

/** The reward of a deposit if it were claimed now. */
export function Earnings({ epoch, deposit }: { epoch: Epoch; deposit: bigint }) {
  const curve = curveOf(epoch);
  const fee = receiveFee(deposit);
  const net = deposit - fee;
  const earned = entitlementOf(curve, curve.deposits, net);
  return (
    <dl class="receipt" aria-label="Preview">
      <div>
        <dt>Fee of 0.05 %</dt>
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

export const PastEpochs = () => (
  <Loaded
    query={useQuery('getAsryEpoch', {})}
    waiting="Reading past epochs."
    hasAge={false}
    show={({ past }) => <EpochTable past={past} />}
  />
);

const EpochTable = ({ past }: Pick<AsryEpochs, 'past'>) => (
  <Table
    label="Past epochs"
    columns={[
      { name: 'Epoch' },
      { name: 'Ended' },
      { name: 'Payments, USD', right: true },
      { name: 'Earned, ASRY', right: true },
      { name: 'Paid, ASRY', right: true },
      { name: 'Claims', right: true },
    ]}
    rows={past.map((epoch) => [
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

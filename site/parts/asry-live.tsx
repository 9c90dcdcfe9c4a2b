import { useState } from 'hono/jsx';
import { formatAmount, parseAmount } from '../../src/core/amount.ts';
import { entitlementOf, receiveFee } from '../../src/custody/asry/reward-curve.ts';
import type { AsryEpochs, Treasury } from '../api/answers.ts';
import { useAnswer } from '../api/use-answer.ts';
import { amountFault } from './amount-text.ts';
import { AsryCurveChart } from './asry-curve-chart.tsx';
import { Identifier } from './copyable.tsx';
import { Field } from './field.tsx';
import { count, grouped, instant, rounded, units } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';
import { Table } from './table.tsx';
import { Tile } from './tile.tsx';

const POLL_MS = 15_000;
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

export function AsryEpoch() {
  const answer = useAnswer<AsryEpochs>('/api/asry/epoch', POLL_MS);
  const [deposit, setDeposit] = useState('100');
  const fault = amountFault(deposit, USD_DECIMALS, 'USD');
  const epoch = answer.value?.current;
  if (answer.value === null && answer.failure !== null)
    return <Failed failure={answer.failure} retry={answer.refresh} />;
  if (answer.value !== null && !epoch)
    return <p class="card empty">No epoch runs now. Deposits earn nothing until the next one starts.</p>;
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
          never reached, only approached
        </Tile>
        <Tile name="Earned so far" value={epoch ? asry(epoch.entitledAtomic, epoch) : undefined} unit="ASRY">
          {epoch ? `${count(epoch.claims)} claims, ${dollars(epoch.depositsAtomic)} USD` : null}
        </Tile>
        <Tile
          name="The next dollar earns"
          value={epoch ? asry(epoch.nextDollarAsryAtomic, epoch, 4) : undefined}
          unit="ASRY"
        >
          before the fee of 0.05 %
        </Tile>
      </div>
      <AsOf at={answer.value?.as_of ?? null} away={answer.failure !== null} />
      <div class="split">
        <div class="card">
          {epoch ? (
            <AsryCurveChart curve={curveOf(epoch)} />
          ) : (
            <div class="chart awaited">
              <div class="plot">
                <Waiting what="Reading the epoch." />
              </div>
            </div>
          )}
        </div>
        <div class="card stack">
          <h2 class="minor">What would a deposit earn?</h2>
          <Field
            id="asry-deposit"
            label="Deposit"
            unit="USD"
            keys="decimal"
            value={deposit}
            set={setDeposit}
            wrong={fault}
          />
          {epoch && fault === null ? <Preview epoch={epoch} text={deposit} /> : null}
          <p class="fine">
            The sooner a deposit is claimed, the more a dollar of it earns. Splitting a deposit gains nothing.
          </p>
        </div>
      </div>
    </>
  );
}

function Preview({ epoch, text }: { epoch: Epoch; text: string }) {
  const parsed = parseAmount(text.trim(), USD_DECIMALS);
  if (!parsed.ok) return null;
  const curve = curveOf(epoch);
  const fee = receiveFee(parsed.atoms);
  const net = parsed.atoms - fee;
  const earned = entitlementOf(curve, curve.deposits, net);
  return (
    <dl class="facts" aria-label="Preview">
      <dt>Fee, 0.05 % rounded up</dt>
      <dd>{dollars(fee.toString())} USD</dd>
      <dt>Counts</dt>
      <dd>{dollars(net.toString())} USD</dd>
      <dt>Would earn now</dt>
      <dd>
        <strong>{units(earned.toString(), epoch.asryDecimals)} ASRY</strong>
      </dd>
    </dl>
  );
}

export function DepositAddress() {
  const treasury = useAnswer<Treasury>('/api/explorer/treasury');
  if (treasury.value === null)
    return treasury.failure === null ? (
      <Waiting what="Asking for the address." />
    ) : (
      <Failed failure={treasury.failure} retry={treasury.refresh} />
    );
  return (
    <dl class="facts">
      <dt>Send USDC or USDT to</dt>
      <dd>
        <Identifier text={treasury.value.treasury_address} label="the treasury address" ends={10} />
      </dd>
      <dt>From</dt>
      <dd>a wallet of your own: the reward goes to the sender that the chain shows</dd>
    </dl>
  );
}

export function PastEpochs() {
  const answer = useAnswer<AsryEpochs>('/api/asry/epoch');
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

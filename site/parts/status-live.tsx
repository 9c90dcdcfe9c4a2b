import type { Status } from '../api/answers.ts';
import { useAnswer } from '../api/use-answer.ts';
import { SolanaTransaction } from './explorer-links.tsx';
import { count, sats, sol } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { detailText } from './swap-progress.tsx';
import { Table } from './table.tsx';
import { Tile } from './tile.tsx';

const POLL_MS = 10_000;

const Well = ({ ok, yes = 'well', no = 'down' }: { ok: boolean; yes?: string; no?: string }) => (
  <span class={`mark ${ok ? 'good' : 'bad'}`}>{ok ? yes : no}</span>
);

const CAPS: Readonly<Record<string, string>> = {
  hour: 'In an hour',
  day: 'In a day',
  unsettled: 'On its way',
  cost_day: 'Cost in a day',
};

function Caps({ caps }: { caps: NonNullable<NonNullable<Status['custody']>['caps']> }) {
  return (
    <Table
      label="Caps of swaps"
      columns={[
        { name: 'Cap' },
        { name: 'Used, SOL', right: true },
        { name: 'Left, SOL', right: true },
        { name: 'At most, SOL', right: true },
      ]}
      rows={Object.entries(caps).map(([name, cap]) => [
        CAPS[name] ?? name,
        cap.usedSol,
        cap.leftSol,
        cap.maximumSol,
      ])}
      empty="No caps are known."
    />
  );
}

/** The words for a swap's details speak of BTC; other kinds have none of their own. */
const operationText = ({ kind, detail }: { kind: string; detail: string }): string => {
  if (detail === 'done') return '';
  return kind === 'swap' ? detailText(detail) : detail.replaceAll('_', ' ');
};

/** Swaps alone can be switched off; whatever else stops the custodian stops all that it signs. */
const Stopped = ({ frozen, paused }: Pick<NonNullable<Status['custody']>, 'frozen' | 'paused'>) =>
  frozen === null && paused === 'disabled' ? (
    <Notice kind="warn" title="No swap begins now.">
      <p>The operator has switched swaps off. Everything else goes on.</p>
    </Notice>
  ) : (
    <Notice kind="warn" title="Nothing is signed now.">
      <p>Reading goes on. The operator has to look at it: {(frozen ?? paused ?? '').replaceAll('_', ' ')}</p>
    </Notice>
  );

export function StatusReport({ status }: { status: Status }) {
  const { custody, backing, upstreams, cron, operations } = status;
  return (
    <>
      <div class="tiles">
        <Tile name="The service" value={status.ok ? 'all well' : 'needs a look'}>
          {count(upstreams.filter(({ ok }) => ok).length)} of {count(upstreams.length)} upstreams answer
        </Tile>
        <Tile name="Every ABSR covered" value={backing ? (backing.ok ? 'yes' : 'NO') : null}>
          {backing?.gapSatoshis
            ? `${sats(backing.gapSatoshis)} sats beyond the supply`
            : 'compared on both chains'}
        </Tile>
        <Tile
          name="Swaps"
          value={custody ? (custody.frozen ? 'frozen' : custody.paused ? 'paused' : 'open') : null}
        >
          {custody
            ? `${custody.openOperations} under way, ${custody.heldOperations} held`
            : 'the custodian does not answer'}
        </Tile>
        <Tile name="Mint of today" value={custody?.mint ? custody.mint.state.replaceAll('_', ' ') : null}>
          {custody?.mint?.reason ?? custody?.mint?.day ?? ''}
        </Tile>
      </div>
      {custody?.frozen || custody?.paused ? (
        <Stopped frozen={custody.frozen} paused={custody.paused} />
      ) : null}
      <div class="columns">
        <section>
          <h2>Upstreams</h2>
          <Table
            label="Upstreams"
            columns={[{ name: 'Name' }, { name: 'State' }, { name: 'Answered in', right: true }]}
            rows={upstreams.map(({ name, ok, ms }) => [name, <Well ok={ok} />, `${count(ms)} ms`])}
            empty="None is configured."
          />
        </section>
        <section>
          <h2>Clock work</h2>
          <Table
            label="Clock work"
            columns={[{ name: 'Trigger' }, { name: 'Last run' }, { name: 'State' }]}
            rows={(cron ?? []).map(({ trigger, lastRunAt, ok }) => [
              trigger === 'minute' ? 'every minute' : 'daily',
              lastRunAt === null ? 'not yet' : <Moment iso={lastRunAt} />,
              lastRunAt === null ? (
                <span class="mark warn">not yet run</span>
              ) : (
                <Well ok={ok} yes="on time" no="late" />
              ),
            ])}
            empty="Not known."
          />
        </section>
      </div>
      <section>
        <h2>Caps of swaps</h2>
        <p>What can be lost to a mistake is bounded by these.</p>
        {custody?.caps ? (
          <Caps caps={custody.caps} />
        ) : (
          <p class="card empty">The custodian does not answer.</p>
        )}
      </section>
      <section>
        <h2>Last operations</h2>
        <Table
          label="Last operations"
          columns={[
            { name: 'Started' },
            { name: 'Kind' },
            { name: 'State' },
            { name: 'SOL', right: true },
            { name: 'Transaction' },
          ]}
          rows={(operations ?? []).map((operation) => [
            <Moment iso={operation.createdAt} />,
            operation.kind,
            <span>
              <span
                class={`mark ${operation.status === 'finished' ? 'good' : operation.status === 'failed' ? 'bad' : 'warn'}`}
              >
                {operation.status}
              </span>{' '}
              {operationText(operation)}
            </span>,
            operation.amountLamports === null ? 'none' : sol(operation.amountLamports),
            operation.signature === null ? 'none yet' : <SolanaTransaction signature={operation.signature} />,
          ])}
          empty="None yet."
        />
      </section>
      <AsOf at={status.as_of} stale={status.stale} />
    </>
  );
}

export function StatusLive() {
  const answer = useAnswer<Status>('/api/status', POLL_MS);
  return (
    <>
      {answer.failure === null ? null : <Failed failure={answer.failure} retry={answer.refresh} />}
      {answer.value === null ? (
        answer.failure === null ? (
          <div class="card">
            <Waiting what="Asking every part." />
          </div>
        ) : null
      ) : (
        <StatusReport status={answer.value} />
      )}
    </>
  );
}

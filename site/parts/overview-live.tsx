import type { AbsrSummary, AbsrTransactions, Proof, ProofHistory, Reserves, Status } from '../api/answers.ts';
import type { Failure } from '../api/call.ts';
import { useAnswer } from '../api/use-answer.ts';
import { useNow } from './clock.ts';
import { SolanaTransaction } from './explorer-links.tsx';
import { ago, btc, count, fromUnixSeconds, instant, sats, sol, usd } from './format.ts';
import { AsOf } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';
import { ReserveChart } from './reserve-chart.tsx';
import { Tile } from './tile.tsx';

const POLL_MS = 20_000;
const PROOF_POLL_MS = 60_000;

export function OverviewFigures() {
  const reserves = useAnswer<Reserves>('/api/reserves', POLL_MS);
  const absr = useAnswer<AbsrSummary>('/api/arbitrage/summary', POLL_MS);
  const proof = useAnswer<Proof>('/api/proof', PROOF_POLL_MS);
  const now = useNow(10_000);

  const bitcoin = reserves.value?.bitcoin;
  const newest = proof.value;
  const failure = reserves.failure ?? absr.failure;
  const known = <T,>(part: T | null | undefined, loaded: boolean): T | null | undefined =>
    loaded ? (part ?? null) : undefined;
  const loaded = reserves.value !== null;
  const summary = absr.value;
  return (
    <>
      {failure === null || (loaded && summary !== null) ? null : (
        <Failed
          failure={failure}
          retry={() => {
            reserves.refresh();
            absr.refresh();
          }}
        />
      )}
      <div class="tiles">
        <Tile
          name="Bitcoin in the reserve"
          value={known(
            bitcoin?.balanceSatoshis && sats(bitcoin.balanceSatoshis),
            loaded || reserves.failure !== null,
          )}
          unit="sats"
        >
          {bitcoin?.balanceSatoshis
            ? `${btc(bitcoin.balanceSatoshis)} BTC, confirmed`
            : 'confirmed coins only'}
        </Tile>
        <Tile
          name="ABSR in circulation"
          value={known(
            summary?.absrTokenSupply === null || summary === null ? null : count(summary.absrTokenSupply),
            summary !== null || absr.failure !== null,
          )}
          unit="ABSR"
        >
          one ABSR stands for one sat
        </Tile>
        <Tile
          name="Sats beyond the supply"
          value={known(
            summary?.gapSatoshis && sats(summary.gapSatoshis),
            summary !== null || absr.failure !== null,
          )}
          unit="sats"
        >
          <Backing summary={summary} />
        </Tile>
        <Tile
          name="Newest signed proof"
          value={
            newest === null
              ? known(null, proof.failure !== null)
              : ago(Date.parse(newest.timestamp), now ?? Date.parse(newest.timestamp))
          }
        >
          <a href="/reserves#verify">Verify it now</a>
        </Tile>
      </div>
      <AsOf {...together(reserves, absr)} />
    </>
  );
}

type Aged = {
  readonly value: { readonly as_of: string | null; readonly stale: boolean } | null;
  readonly failure: Failure | null;
};

/** Figures that stand under one line are as old as the oldest of them. */
export function together(...answers: Aged[]): { at: string | null; stale: boolean; away: boolean } {
  const times = answers.flatMap(({ value }) => value?.as_of ?? []).sort();
  return {
    at: times[0] ?? null,
    stale: answers.some(({ value }) => value?.stale === true),
    away: answers.some(({ failure }) => failure !== null),
  };
}

function Backing({ summary }: { summary: AbsrSummary | null }) {
  if (summary?.gapSats === null || summary?.gapSats === undefined)
    return <span>supply and reserve, compared</span>;
  if (summary.gapSats < 0) return <span class="mark bad">not covered</span>;
  if (summary.absrTokenSupply === 0) return <span class="mark good">nothing is owed yet</span>;
  return <span class="mark good">every token is covered</span>;
}

export function OverviewChart() {
  const history = useAnswer<ProofHistory>('/api/proof/history?limit=100', PROOF_POLL_MS);
  if (history.value === null && history.failure !== null)
    return <Failed failure={history.failure} retry={history.refresh} />;
  if (history.value === null)
    return (
      <div class="card">
        <div class="chart awaited">
          <div class="plot">
            <Waiting what="Reading the archive of proofs." />
          </div>
        </div>
      </div>
    );
  if (history.value.proofs.length === 0)
    return (
      <p class="card empty">
        No proof has been signed yet. The first one is being made, and appears here within a minute.
      </p>
    );
  return (
    <div class="card">
      <ReserveChart proofs={history.value.proofs} />
    </div>
  );
}

export function RecentEvents() {
  const events = useAnswer<AbsrTransactions>('/api/arbitrage/transactions', POLL_MS);
  if (events.value === null && events.failure !== null)
    return <Failed failure={events.failure} retry={events.refresh} />;
  if (events.value === null)
    return (
      <div class="card">
        <Waiting what="Reading what happened last." />
      </div>
    );
  const rows = events.value.transactions.slice(0, 5);
  if (rows.length === 0)
    return <p class="card empty">Nothing yet. The first finished swap or daily mint appears here.</p>;
  return (
    <ul class="card flush events">
      {rows.map((row) => (
        <li>
          <span class="when">
            {row.blockTime === null ? 'pending' : instant(fromUnixSeconds(row.blockTime)).slice(0, 16)}
          </span>
          <span>
            {row.type === 'mint' ? 'ABSR minted' : 'Swap brought sats'}{' '}
            <SolanaTransaction signature={row.signature} />
          </span>
          <span class="number">
            {sats(row.amountSatoshis)} {row.type === 'mint' ? 'ABSR' : 'sats'}
            {row.amountUsd === null ? '' : ` (${usd(row.amountUsd)})`}
          </span>
        </li>
      ))}
    </ul>
  );
}

export function ServiceState() {
  const status = useAnswer<Status>('/api/status', POLL_MS);
  const reserves = useAnswer<Reserves>('/api/reserves');
  if (status.value === null)
    return status.failure === null ? (
      <Waiting what="Asking how the service is." />
    ) : (
      <Failed failure={status.failure} retry={status.refresh} />
    );
  return (
    <ServiceFacts
      status={status.value}
      lamports={reserves.value?.solana.balanceLamports ?? null}
      away={status.failure !== null}
    />
  );
}

const swapsState = (custody: Status['custody']): string => {
  if (!custody) return 'unknown';
  return custody.frozen ? 'frozen' : custody.paused ? 'paused' : 'open';
};

export function ServiceFacts({
  status,
  lamports,
  away,
}: {
  status: Status;
  lamports: string | null;
  away: boolean;
}) {
  const { custody } = status;
  return (
    <>
      <dl class="facts">
        <dt>State</dt>
        <dd>
          {status.ok ? <span class="mark good">all well</span> : <span class="mark warn">needs a look</span>}{' '}
          <a href="/status">Details</a>
        </dd>
        <dt>SOL for swaps</dt>
        <dd>{lamports ? `${sol(lamports)} SOL` : 'unknown'}</dd>
        <dt>Room for swaps today</dt>
        <dd>
          {custody?.caps?.day
            ? `${custody.caps.day.leftSol} of ${custody.caps.day.maximumSol} SOL`
            : 'unknown'}
        </dd>
        <dt>Swaps</dt>
        <dd>{swapsState(custody)}</dd>
      </dl>
      <AsOf at={status.as_of} stale={status.stale} away={away} />
    </>
  );
}

import { useEffect, useRef } from 'hono/jsx';
import type {
  AbsrSummary,
  AbsrTransactions,
  ProofHistory,
  Reserves,
  Status,
  SwapHistory,
} from '../../packages/client/src/index.ts';
import type { Failure } from '../api/call.ts';
import { announceChange, useAnswer } from '../api/use-answer.ts';
import { Canal, type CanalView } from './canal.tsx';
import { CoverageBar, coverageOf } from './coverage.tsx';
import { Away, bitcoinAddressUrl, SolanaTransaction, solanaAddressUrl } from './explorer-links.tsx';
import { fromUnixSeconds, sats, sol, usd } from './format.ts';
import { Age, AsOf } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';
import { ReserveChart } from './reserve-chart.tsx';
import { Rolling } from './rolling.tsx';

const POLL_MS = 5000;
const PROOF_POLL_MS = 60_000;
/** A mint shows as flowing water for this long after its block. */
const RECENT_SECONDS = 90;

type Aged = {
  readonly value: { readonly as_of: string | null; readonly stale: boolean } | null;
  readonly failure: Failure | null;
};

/** Figures under one line are as old as the oldest of them. */
export function together(...answers: Aged[]): { at: string | null; stale: boolean; away: boolean } {
  const times = answers.flatMap(({ value }) => value?.as_of ?? []).sort();
  return {
    at: times[0] ?? null,
    stale: answers.some(({ value }) => value?.stale === true),
    away: answers.some(({ failure }) => failure !== null),
  };
}

/** Value of SOL in sats, by the prices that the service uses; for the picture only. */
function solInSats(lamports: string | null, summary: AbsrSummary | null): number | null {
  if (lamports === null || !summary?.solPriceUsd || !summary.btcPriceUsd) return null;
  return (Number(lamports) / 1e9) * (summary.solPriceUsd / summary.btcPriceUsd) * 1e8;
}

export function levelsOf(reserves: Reserves | null, summary: AbsrSummary | null): CanalView['levels'] {
  const covered = coverageOf(summary);
  const btc = reserves?.bitcoin.balanceSatoshis ?? null;
  const values = {
    sol: solInSats(reserves?.solana.balanceLamports ?? null, summary),
    btc: btc === null ? null : Number(btc),
    absr: covered === null ? null : Number(covered.supply),
  };
  const most = Math.max(1, ...Object.values(values).map((value) => value ?? 0));
  const level = (value: number | null): number | null => (value === null ? null : value / most);
  return { sol: level(values.sol), btc: level(values.btc), absr: level(values.absr) };
}

const Figure = ({
  asset,
  name,
  atoms,
  known,
  unit,
  show,
  children,
}: {
  asset: 'sol' | 'btc' | 'absr';
  name: string;
  atoms: string | null | undefined;
  /** Whether the service has answered: a missing value is unknown then, else still loading. */
  known: boolean;
  unit: string;
  show: (atoms: string) => string;
  children?: unknown;
}) => (
  <div class={`figure ${asset}`}>
    <span class="name">
      <span class={`dot ${asset}`} aria-hidden="true" />
      {name}
    </span>
    <span class="value number">
      {atoms ? (
        <>
          <Rolling atoms={BigInt(atoms)} show={show} />
          <span class="unit"> {unit}</span>
        </>
      ) : known ? (
        'unknown'
      ) : (
        <span class="skeleton" aria-hidden="true" />
      )}
    </span>
    <span class="note">{children}</span>
  </div>
);

const SwapGate = ({ swaps }: { swaps: SwapHistory | null }) => {
  const waiting = swaps?.transactions.find(({ status }) => status === 'waiting');
  const last = swaps?.transactions.find(({ status }) => status === 'finished');
  if (waiting)
    return (
      <a href={`/swap?swap=${encodeURIComponent(waiting.signature)}`}>
        {sol(waiting.amountLamports)} SOL under way
      </a>
    );
  return last?.blockTime ? <Age iso={fromUnixSeconds(last.blockTime)} /> : <span>no swap yet</span>;
};

const MintGate = ({ events }: { events: AbsrTransactions | null }) => {
  const last = events?.transactions.find(({ type }) => type === 'mint');
  return last?.blockTime ? <Age iso={fromUnixSeconds(last.blockTime)} /> : <span>once a day</span>;
};

const isRecent = (blockTime: number | null | undefined): boolean =>
  typeof blockTime === 'number' && Date.now() / 1000 - blockTime < RECENT_SECONDS;

/** SOL reserve, swap gate, BTC reserve, mint gate, ABSR supply: the hero of the overview. */
export function Flow() {
  const reserves = useAnswer('getReserves', {}, POLL_MS);
  const absr = useAnswer('getAbsrSummary', {}, POLL_MS);
  const swaps = useAnswer('listSwaps', {}, POLL_MS);
  const events = useAnswer('listAbsrTransactions', {}, POLL_MS);
  const proof = useAnswer('getProof', {}, PROOF_POLL_MS);

  const last = useRef<string | null>(null);
  const newest = events.value?.transactions[0]?.signature ?? null;
  useEffect(() => {
    // A new swap or mint changes the other figures as well.
    if (newest !== null && last.current !== null && last.current !== newest) announceChange();
    last.current = newest;
  }, [newest]);

  const bitcoin = reserves.value?.bitcoin;
  const solana = reserves.value?.solana;
  const covered = coverageOf(absr.value);
  const failure = reserves.failure ?? absr.failure;
  const asked = reserves.value !== null || reserves.failure !== null;
  const view: CanalView = {
    levels: levelsOf(reserves.value, absr.value),
    swapping: swaps.value?.transactions.some(({ status }) => status === 'waiting') ?? false,
    minting: isRecent(events.value?.transactions.find(({ type }) => type === 'mint')?.blockTime),
  };
  return (
    <>
      {failure === null || (reserves.value !== null && absr.value !== null) ? null : (
        <Failed
          failure={failure}
          retry={() => {
            reserves.refresh();
            absr.refresh();
          }}
        />
      )}
      <div class="flow">
        <p class="gate-label swap">
          <strong>Swap</strong> <SwapGate swaps={swaps.value} />
        </p>
        <p class="gate-label mint">
          <strong>Mint</strong> <MintGate events={events.value} />
        </p>
        <Canal view={view} />
        <div class="figures">
          <Figure
            asset="sol"
            name="SOL reserve"
            atoms={solana?.balanceLamports}
            known={asked}
            unit="SOL"
            show={(atoms) => sol(atoms).replace(/(\.\d{4})\d+$/, '$1')}
          >
            {solana?.address ? (
              <Away href={solanaAddressUrl(solana.address)}>waits to be swapped</Away>
            ) : (
              'waits to be swapped'
            )}
          </Figure>
          <Figure
            asset="btc"
            name="BTC reserve"
            atoms={bitcoin?.balanceSatoshis}
            known={asked}
            unit="sats"
            show={sats}
          >
            {bitcoin?.address ? (
              <Away href={bitcoinAddressUrl(bitcoin.address)}>confirmed at one address</Away>
            ) : (
              'confirmed at one address'
            )}
          </Figure>
          <Figure
            asset="absr"
            name="ABSR supply"
            atoms={covered?.supply.toString()}
            known={absr.value !== null || absr.failure !== null}
            unit="ABSR"
            show={sats}
          >
            one ABSR per sat
          </Figure>
        </div>
      </div>
      <div class="coverage-row">
        {covered === null ? (
          <div class="coverage awaited" />
        ) : (
          <CoverageBar covered={covered} bitcoin={bitcoin} proofAt={proof.value?.timestamp ?? null} />
        )}
        <a class="button" href="/reserves#verify">
          Verify the reserve
        </a>
      </div>
      <AsOf {...together(reserves, absr)} />
    </>
  );
}

export function OverviewChart() {
  const history = useAnswer('listProofs', { limit: 100 }, PROOF_POLL_MS);
  if (history.value === null && history.failure !== null)
    return <Failed failure={history.failure} retry={history.refresh} />;
  if (history.value === null)
    return (
      <div class="chart awaited">
        <div class="plot">
          <Waiting what="Reading the archive of proofs." />
        </div>
      </div>
    );
  const { proofs } = history.value;
  if (proofs.length < 2)
    return (
      <p class="empty">
        {proofs[0] === undefined ? (
          'No proof has been signed yet. The first one is due within a minute.'
        ) : (
          <span>
            One proof so far: {sats(proofs[0].figures.reserveSatoshis)} sats,{' '}
            <Age iso={proofs[0].timestamp} />. The chart starts with the second proof; a proof is signed every
            hour.
          </span>
        )}
      </p>
    );
  return <ReserveChart proofs={proofs} />;
}

const SHOWN = 6;

type Event = {
  readonly kind: 'swap' | 'mint' | 'proof';
  readonly at: string | null;
  readonly title: string;
  readonly amount: string;
  readonly signature: string | null;
};

export function timelineOf(
  transactions: AbsrTransactions['transactions'],
  proofs: ProofHistory['proofs'],
): Event[] {
  const moved = transactions.map(
    (row): Event => ({
      kind: row.type === 'mint' ? 'mint' : 'swap',
      at: row.blockTime === null ? null : fromUnixSeconds(row.blockTime),
      title: row.type === 'mint' ? 'ABSR minted' : 'Swap finished',
      amount: `${sats(row.amountSatoshis)} ${row.type === 'mint' ? 'ABSR' : 'sats'}${row.amountUsd === null ? '' : `, ${usd(row.amountUsd)}`}`,
      signature: row.signature,
    }),
  );
  const signed = proofs.slice(0, 1).map(
    ({ timestamp, figures }): Event => ({
      kind: 'proof',
      at: timestamp,
      title: 'Proof signed',
      amount: `${sats(figures.reserveSatoshis)} sats`,
      signature: null,
    }),
  );
  // Unconfirmed rows have no time yet and come first.
  return [...moved, ...signed].sort((a, b) => (b.at ?? '9').localeCompare(a.at ?? '9')).slice(0, SHOWN);
}

const ICONS = {
  swap: 'M5 9h12l-4-4M19 15H7l4 4',
  mint: 'M12 5v14M5 12h14',
  proof: 'M5 12.500l4.500 4.500L19 7.500',
} as const;

export function RecentEvents() {
  const events = useAnswer('listAbsrTransactions', {}, POLL_MS);
  const history = useAnswer('listProofs', { limit: 100 }, PROOF_POLL_MS);
  if (events.value === null && events.failure !== null)
    return <Failed failure={events.failure} retry={events.refresh} />;
  if (events.value === null) return <Waiting what="Reading the last events." />;
  const rows = timelineOf(events.value.transactions, history.value?.proofs ?? []);
  if (rows.length === 0)
    return <p class="empty">Nothing yet. The first finished swap or daily mint appears here.</p>;
  return (
    <ol class="timeline" aria-label="Last events, newest first">
      {rows.map((row) => (
        <li class={row.kind}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d={ICONS[row.kind]} />
          </svg>
          <span>
            <strong>{row.title}</strong> <span class="number">{row.amount}</span>
            <span class="fine detail">
              {row.at === null ? 'not yet in a block' : <Age iso={row.at} />}
              {row.signature === null ? (
                <>
                  {' · '}
                  <a href="/reserves#verify">verify</a>
                </>
              ) : (
                <>
                  {' · '}
                  <SolanaTransaction signature={row.signature} />
                </>
              )}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}

export function ServiceState() {
  const status = useAnswer('getStatus', {}, 4 * POLL_MS);
  const reserves = useAnswer('getReserves', {});
  if (status.value === null)
    return status.failure === null ? (
      <Waiting what="Reading the service status." />
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
          {status.ok ? (
            <span class="mark good">all well</span>
          ) : (
            <span class="mark warn">needs attention</span>
          )}{' '}
          <a href="/status">Details</a>
        </dd>
        <dt>SOL for swaps</dt>
        <dd>{lamports ? `${sol(lamports)} SOL` : 'unknown'}</dd>
        <dt>Left for swaps today</dt>
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

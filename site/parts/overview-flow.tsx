import { useEffect, useRef } from 'hono/jsx';
import type {
  AbsrSummary,
  AbsrTransactions,
  Reserves,
  SwapHistory,
} from '../../packages/client/src/index.ts';
import type { Failure } from '../api/call.ts';
import { announceChange, FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Canal, type CanalView } from './canal.tsx';
import { CoverageBar, CoverageUnknown, coverageOf, coverageRatio } from './coverage.tsx';
import { Away, bitcoinAddressUrl, solanaAddressUrl } from './explorer-links.tsx';
import { fromUnixSeconds, sats, shortSol, sol } from './format.ts';
import { Age, AsOf } from './freshness.tsx';
import { Rolling } from './rolling.tsx';

const PROOF_POLL_MS = 60_000;
/** Characters of a figure that fit a third of the page in large type. */
const LONG = 12;
/** A mint shows as flowing water for this long after its block. */
const RECENT_SECONDS = 90;

type Aged = {
  readonly value: { readonly as_of: string | null; readonly stale: boolean } | null;
  readonly failure: Failure | null;
};

/** Combined figures are as old as the oldest of them. */
export function together(...answers: Aged[]): { at: string | null; stale: boolean; away: boolean } {
  const times = answers.flatMap(({ value }) => value?.as_of ?? []).sort();
  return {
    at: times[0] ?? null,
    stale: answers.some(({ value }) => value?.stale === true),
    away: answers.some(({ failure }) => failure !== null),
  };
}

/** Value of SOL in sats, at the service's prices; for the picture only. */
function solInSats(lamports: string | null, summary: AbsrSummary | null): number | null {
  if (lamports === null || !summary?.solPriceUsd || !summary.btcPriceUsd) return null;
  return (Number(lamports) / 1e9) * (summary.solPriceUsd / summary.btcPriceUsd) * 1e8;
}

export function levelsOf(reserves: Reserves | null, summary: AbsrSummary | null): CanalView['levels'] {
  const supply = summary?.coverage.supplySatoshis ?? null;
  const btc = reserves?.bitcoin.balanceSatoshis ?? null;
  const values = {
    sol: solInSats(reserves?.solana.balanceLamports ?? null, summary),
    btc: btc === null ? null : Number(btc),
    absr: supply === null ? null : Number(supply),
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
  /** Whether the service has answered: a missing value is then unknown, otherwise still loading. */
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
    <span class={`value number${atoms && show(atoms).length > LONG ? ' long' : ''}`} data-figure={asset}>
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

/** Empty until the history was read: an unread history is not an empty one. */
export const SwapGate = ({ swaps }: { swaps: SwapHistory | null }) => {
  const waiting = swaps?.transactions.find(({ status }) => status === 'waiting');
  const last = swaps?.transactions.find(({ status }) => status === 'finished');
  if (waiting)
    return (
      <a href={`/swap?swap=${encodeURIComponent(waiting.signature)}`}>
        {sol(waiting.amountLamports)} SOL under way
      </a>
    );
  if (last?.blockTime) return <Age iso={fromUnixSeconds(last.blockTime)} />;
  return <span>{swaps === null ? '' : 'none yet'}</span>;
};

const MintGate = ({ events }: { events: AbsrTransactions | null }) => {
  const last = events?.transactions.find(({ type }) => type === 'mint');
  if (last?.blockTime) return <Age iso={fromUnixSeconds(last.blockTime)} />;
  return <span>{events === null ? '' : 'none yet'}</span>;
};

const isRecent = (blockTime: number | null | undefined): boolean =>
  typeof blockTime === 'number' && Date.now() / 1000 - blockTime < RECENT_SECONDS;

/** SOL reserve, swap gate, BTC reserve, mint gate, ABSR supply: the hero of the overview. */
export function Flow() {
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const absr = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const swaps = useQuery('listSwaps', {}, FIGURES_POLL_MS);
  const events = useQuery('listAbsrTransactions', {}, FIGURES_POLL_MS);
  const proof = useQuery('getProof', {}, PROOF_POLL_MS);

  const last = useRef<string | null>(null);
  const newest = events.value?.transactions[0]?.signature ?? null;
  useEffect(() => {
    // A new swap or mint changes the other figures as well.
    if (newest !== null && last.current !== null && last.current !== newest) announceChange();
    last.current = newest;
  }, [newest]);

  const bitcoin = reserves.value?.bitcoin;
  const solana = reserves.value?.solana;
  const covered = coverageOf(absr);
  const asked = reserves.value !== null || reserves.failure !== null;
  const absrAsked = absr.value !== null || absr.failure !== null;
  const view: CanalView = {
    levels: levelsOf(reserves.value, absr.value),
    swapping: swaps.value?.transactions.some(({ status }) => status === 'waiting') ?? false,
    minting: isRecent(events.value?.transactions.find(({ type }) => type === 'mint')?.blockTime),
  };
  return (
    <>
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
            show={shortSol}
          >
            {solana?.address ? (
              <Away href={solanaAddressUrl(solana.address)}>See it on Solana Explorer</Away>
            ) : null}
          </Figure>
          <Figure
            asset="btc"
            name="BTC reserve"
            atoms={bitcoin?.balanceSatoshis}
            known={asked}
            unit={bitcoin?.balanceSatoshis === '1' ? 'sat' : 'sats'}
            show={sats}
          >
            {bitcoin?.address ? (
              <Away href={bitcoinAddressUrl(bitcoin.address)}>See it on mempool.space</Away>
            ) : null}
          </Figure>
          <Figure
            asset="absr"
            name="ABSR supply"
            atoms={absr.value?.coverage.supplySatoshis}
            known={absrAsked}
            unit="ABSR"
            show={sats}
          >
            a token on Solana, one for each sat
          </Figure>
        </div>
      </div>
      <div class="coverage-row">
        {covered === null ? (
          <CoverageUnknown asked={absrAsked} />
        ) : (
          <CoverageBar covered={covered} bitcoin={bitcoin} proofAt={proof.value?.timestamp ?? null} />
        )}
        <p class="ratio">
          <strong class="number">
            {covered !== null ? (
              coverageRatio(covered)
            ) : absrAsked ? (
              'unknown'
            ) : (
              <span class="skeleton" aria-hidden="true" />
            )}
          </strong>
          <span class="fine">
            {covered?.supply === 0n ? 'no ABSR exists yet' : 'of the supply is in the reserve'}
          </span>
        </p>
      </div>
      <AsOf {...together(reserves, absr)} />
    </>
  );
}

import { type Child, useEffect, useRef } from 'hono/jsx';
import type {
  AbsrSummary,
  AbsrTransactions,
  Reserves,
  SwapHistory,
} from '../../packages/client/src/index.ts';
import { announceChange, FIGURES_POLL_MS, type Query, useQuery } from '../api/query.ts';
import { Canal, type CanalView } from './canal.tsx';
import { absrMinter } from './coverage.tsx';
import { amountOf, fromUnixSeconds, sats, shortSol, sol } from './format.ts';
import { Age } from './freshness.tsx';
import { mintRhythm } from './rhythm.ts';

/** A mint shows as flowing water for this long after its block. */
const RECENT_SECONDS = 90;

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

/** Empty until the history was read: until then it is unknown whether a swap exists. */
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

type BasinProps = {
  readonly asset: 'sol' | 'btc' | 'absr';
  readonly name: string;
  /** Undefined until a response has arrived; null if it has no figure. */
  readonly figure: string | null | undefined;
  readonly children: Child;
};

/** One stage between SOL and ABSR: its figure, and what happens there. */
const Basin = ({ asset, name, figure, children }: BasinProps) => (
  <div>
    <dt>
      <span class={`dot ${asset}`} aria-hidden="true" />
      {name}
    </dt>
    <dd class="number">
      {figure === undefined ? <span class="skeleton" aria-hidden="true" /> : (figure ?? 'unknown')}
    </dd>
    <dd class="fine">{children}</dd>
  </div>
);

/** A figure of a read: undefined while it is awaited, null if the read has failed or has none. */
const figureOf = <T,>({ value, failure }: Query<T>, show: (value: T) => string | null) =>
  value === null ? (failure === null ? undefined : null) : show(value);

/** Whether the picture has the line at the level of ABSR, which needs both figures. */
const isMarked = (reserves: Query<Reserves>, absr: Query<AbsrSummary>): boolean =>
  reserves.value?.bitcoin.balanceSatoshis != null && absr.value?.coverage.supplySatoshis != null;

const Basins = ({ reserves, absr }: { reserves: Query<Reserves>; absr: Query<AbsrSummary> }) => (
  <dl class="basin-names">
    <Basin
      asset="sol"
      name="1. SOL comes in"
      figure={figureOf(reserves, ({ solana: { balanceLamports: held } }) => held && `${shortSol(held)} SOL`)}
    >
      Drawn at its worth in sats. It does not back ABSR.
    </Basin>
    <Basin
      asset="btc"
      name="2. BTC stays"
      figure={figureOf(reserves, ({ bitcoin: { balanceSatoshis: held } }) => held && amountOf(held, 'sat'))}
    >
      Heights are sats from zero.{isMarked(reserves, absr) ? ' Dotted: ABSR supply.' : ''}
    </Basin>
    <Basin
      asset="absr"
      name="3. ABSR counts it"
      figure={figureOf(absr, ({ coverage }) =>
        coverage.supplySatoshis === null ? null : `${sats(coverage.supplySatoshis)} ABSR`,
      )}
    >
      {mintRhythm(absrMinter(reserves.value?.solana ?? null), absr.value?.coverage ?? null)}
    </Basin>
  </dl>
);

/** SOL reserve, swap gate, BTC reserve, mint gate, ABSR supply, with water at the height of each figure. */
export function Flow() {
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const absr = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const swaps = useQuery('listSwaps', {}, FIGURES_POLL_MS);
  const events = useQuery('listAbsrTransactions', {}, FIGURES_POLL_MS);

  const last = useRef<string | null>(null);
  const newest = events.value?.transactions[0]?.signature ?? null;
  useEffect(() => {
    // A new swap or mint changes the other figures as well.
    if (newest !== null && last.current !== null && last.current !== newest) announceChange();
    last.current = newest;
  }, [newest]);

  const view: CanalView = {
    levels: levelsOf(reserves.value, absr.value),
    swapping: swaps.value?.transactions.some(({ status }) => status === 'waiting') ?? false,
    minting: isRecent(events.value?.transactions.find(({ type }) => type === 'mint')?.blockTime),
  };
  return (
    <div class="flow">
      <p class="gate-label swap">
        <strong>Swap SOL → BTC</strong> <SwapGate swaps={swaps.value} />
      </p>
      <p class="gate-label mint">
        <strong>Mint BTC → ABSR</strong> <MintGate events={events.value} />
      </p>
      <Canal view={view} />
      <Basins reserves={reserves} absr={absr} />
    </div>
  );
}

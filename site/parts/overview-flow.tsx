import { useEffect, useRef } from 'hono/jsx';
import type {
  AbsrSummary,
  AbsrTransactions,
  Reserves,
  SwapHistory,
} from '../../packages/client/src/index.ts';
import { announceChange, FIGURES_POLL_MS, type Query, useQuery } from '../api/query.ts';
import { Canal, type CanalView } from './canal.tsx';
import { bitcoinSources } from './coverage.tsx';
import { amountOf, fromUnixSeconds, sats, shortSol, sol } from './format.ts';
import { Age } from './freshness.tsx';

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

const SolHeld = ({ reserves: { value, failure } }: { reserves: Query<Reserves> }) => {
  const lamports = value?.solana.balanceLamports;
  if (lamports) return <>{shortSol(lamports)} SOL, not counted</>;
  return value !== null || failure !== null ? <>unknown</> : <span class="skeleton" aria-hidden="true" />;
};

const BtcHeld = ({ bitcoin }: { bitcoin: Reserves['bitcoin'] | undefined }) => (
  <>
    {bitcoin?.balanceSatoshis ? `${amountOf(bitcoin.balanceSatoshis, 'sat')}, ` : ''}
    {bitcoinSources(bitcoin)}
  </>
);

const AbsrMade = ({ supply }: { supply: string | null }) => (
  <>{supply === null ? '' : `${sats(supply)}, `}minted once a day</>
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
        <strong>Swap</strong> <SwapGate swaps={swaps.value} />
      </p>
      <p class="gate-label mint">
        <strong>Mint</strong> <MintGate events={events.value} />
      </p>
      <Canal view={view} />
      <dl class="basin-names">
        <div>
          <dt>
            <span class="dot sol" aria-hidden="true" />
            SOL reserve
          </dt>
          <dd>
            <SolHeld reserves={reserves} />
          </dd>
        </div>
        <div>
          <dt>
            <span class="dot btc" aria-hidden="true" />
            BTC reserve
          </dt>
          <dd>
            <BtcHeld bitcoin={reserves.value?.bitcoin} />
          </dd>
        </div>
        <div>
          <dt>
            <span class="dot absr" aria-hidden="true" />
            ABSR supply
          </dt>
          <dd>
            <AbsrMade supply={absr.value?.coverage.supplySatoshis ?? null} />
          </dd>
        </div>
      </dl>
    </div>
  );
}

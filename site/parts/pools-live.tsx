import { type Query, useQuery } from '../api/query.ts';
import { Identifier } from './copyable.tsx';
import { OnChain } from './explorer-links.tsx';
import { grouped, rounded, significant, units } from './format.ts';
import { AsOf } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { Foreign } from './token-text.tsx';

/** The pool API forwards the provider's response; the page reads only these fields, and any of them may be missing. */
type PoolToken = { readonly symbol?: unknown; readonly name?: unknown; readonly decimals?: unknown };
type Pool = {
  readonly data?: {
    readonly address?: unknown;
    readonly price?: unknown;
    readonly tvlUsdc?: unknown;
    readonly feeRate?: unknown;
    readonly tokenBalanceA?: unknown;
    readonly tokenBalanceB?: unknown;
    readonly tokenA?: PoolToken;
    readonly tokenB?: PoolToken;
    readonly stats?: { readonly '24h'?: { readonly volume?: unknown } | null } | null;
    readonly hasWarning?: unknown;
  };
};

const POLL_MS = 20_000;
const DIGITS = 6;
/** Fee rates are in hundredths of a basis point. */
const FEE_UNITS_PER_PERCENT = 10_000;

export const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;
const DECIMAL = /^\d{1,40}(\.\d+)?$/;
const decimal = (value: unknown, digits: number): string => {
  const text = textOf(value);
  return text !== null && DECIMAL.test(text) ? grouped(rounded(text, digits)) : 'unknown';
};
export const price = (value: unknown): string => {
  const text = textOf(value);
  return text !== null && DECIMAL.test(text) ? grouped(significant(text, DIGITS)) : 'unknown';
};
const balance = (atoms: unknown, token: PoolToken | undefined): string => {
  const text = textOf(atoms);
  const decimals = token?.decimals;
  return text !== null && typeof decimals === 'number'
    ? units(text, Math.min(Math.max(decimals, 0), 30))
    : 'unknown';
};
/** A per B, from B per A, in floats: for display only. */
export function inverse(rate: unknown): string {
  const value = Number(textOf(rate));
  return Number.isFinite(value) && value > 0 ? price((1 / value).toFixed(2 * DIGITS)) : 'unknown';
}

const Rate = ({ amount, of, per }: { amount: string; of: string; per: string }) => (
  <>
    {amount} <span class="unit fine">{<Foreign text={of} />}</span>
    <span class="unit fine">
      {' '}
      per <Foreign text={per} />
    </span>
  </>
);

const asOf = (headers: Headers | null): string | null => headers?.get('x-data-as-of') ?? null;
const isStale = (headers: Headers | null): boolean => headers?.get('x-data-stale') === 'true';

export function PoolCard({ pool, headers }: { pool: Pool; headers: Headers | null }) {
  const { data = {} } = pool;
  const a = textOf(data.tokenA?.symbol) ?? 'A';
  const b = textOf(data.tokenB?.symbol) ?? 'B';
  const address = textOf(data.address);
  const fee = Number(textOf(data.feeRate) ?? Number.NaN) / FEE_UNITS_PER_PERCENT;
  const source = headers?.get('x-data-source');
  // The direction with the larger number comes first: 80,000 is easier to read than 0.0000125.
  const isSmall = Number(textOf(data.price)) < 1;
  const toB = <Rate amount={price(data.price)} of={b} per={a} />;
  const toA = <Rate amount={inverse(data.price)} of={a} per={b} />;
  return (
    <>
      <div>
        <h2 class="minor">
          <Foreign text={a} /> / <Foreign text={b} />
        </h2>
        {data.hasWarning === true ? <p class="mark warn">the provider warns about this pool</p> : null}
        <p class="tile-value number">{isSmall ? toA : toB}</p>
        <p class="fine number">{isSmall ? toB : toA}</p>
      </div>
      <dl class="facts">
        <dt>Value</dt>
        <dd>{decimal(data.tvlUsdc, 2)} USDC</dd>
        <dt>Volume, 24 h</dt>
        <dd>{decimal(data.stats?.['24h']?.volume, 2)} USDC</dd>
        <dt>Fee</dt>
        <dd>{Number.isFinite(fee) ? `${fee} %` : 'unknown'}</dd>
      </dl>
      <dl class="facts">
        <dt>Holds</dt>
        <dd>
          {balance(data.tokenBalanceA, data.tokenA)} <Foreign text={a} />
          <br />
          {balance(data.tokenBalanceB, data.tokenB)} <Foreign text={b} />
        </dd>
        <dt>Pool</dt>
        <dd>
          {address === null ? (
            'unknown'
          ) : (
            <span class="stacked">
              <Identifier text={address} label="pool address" ends={4} />
              <OnChain href={`https://www.orca.so/pools/${encodeURIComponent(address)}`}>
                Open at Orca
              </OnChain>
            </span>
          )}
        </dd>
        <dt>Source</dt>
        <dd>
          {source === 'orca' ? 'Orca’s API' : source ? 'read from the chain' : 'unknown'}{' '}
          {isStale(headers) ? <span class="mark warn">stale</span> : null}
          <AsOf at={asOf(headers)} />
        </dd>
      </dl>
    </>
  );
}

type PoolRead = {
  /** Shown while the pool's own symbols are not known. */
  readonly title: string;
  readonly query: Query<object>;
};

/** What is wrong with the figures of all pools, said once. Nothing while they are fresh. */
function Trouble({ reads }: { reads: readonly PoolRead[] }) {
  const known = reads.filter(({ query }) => query.value !== null).map(({ query }) => query);
  const stale = known.some(({ headers }) => isStale(headers));
  const away = known.some(({ failure }) => failure !== null);
  const [oldest = null] = known.flatMap(({ headers }) => asOf(headers) ?? []).sort();
  return stale || away ? <AsOf at={oldest} stale={stale} away={away} /> : null;
}

export const PoolRows = ({ reads }: { reads: readonly PoolRead[] }) => (
  <>
    <Trouble reads={reads} />
    <ul class="pools" aria-label="Pools">
      {reads.map(({ title, query }) => (
        <li class="pool">
          {query.value === null ? <h2 class="minor">{title}</h2> : null}
          <Loaded
            query={query}
            waiting="Reading the pool."
            show={(pool) => <PoolCard pool={pool as Pool} headers={query.headers} />}
          />
        </li>
      ))}
    </ul>
  </>
);

export const Pools = () => (
  <PoolRows
    reads={[
      { title: 'The main pool', query: useQuery('getDefaultPool', {}, POLL_MS) },
      { title: 'SAETH / SAUSD', query: useQuery('getSaethSausdPool', {}, POLL_MS) },
      { title: 'SAUSD / USDC', query: useQuery('getSausdUsdcPool', {}, POLL_MS) },
    ]}
  />
);

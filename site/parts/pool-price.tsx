import type { Pool } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { inverse, price, textOf } from './pools-live.tsx';
import { Tile } from './tile.tsx';
import { Foreign } from './token-text.tsx';

const symbolOf = (token: unknown): string =>
  (typeof token === 'object' && token !== null ? textOf(Reflect.get(token, 'symbol')) : null) ??
  'of the other token';

/** The price of one token in a pool that has it, and the symbol of the other side. */
function rateOf({ data }: Pool, mint: string): readonly [amount: string, symbol: string] | null {
  if (!(Number(data.price) > 0)) return null;
  if (data.tokenMintA === mint) return [price(data.price), symbolOf(data.tokenB)];
  return data.tokenMintB === mint ? [inverse(data.price), symbolOf(data.tokenA)] : null;
}

/** The price of a token in the first of the service's pools that has it; nothing if none has. */
export function PoolPrice({ mint }: { mint: string }) {
  const reads = [
    useQuery('getDefaultPool', {}),
    useQuery('getSaethSausdPool', {}),
    useQuery('getSausdUsdcPool', {}),
  ];
  const [rate] = reads.flatMap(({ value }) => (value === null ? [] : [rateOf(value, mint)])).filter(Boolean);
  if (rate)
    return (
      <Tile name="Price" value={rate[0]}>
        <Foreign text={rate[1]} />, <a href="/pools">in its pool</a>
      </Tile>
    );
  const isFailed = reads.some(({ value, failure }) => value === null && failure !== null);
  return isFailed ? (
    <Tile name="Price" value={null}>
      a pool cannot be read
    </Tile>
  ) : null;
}

import type { Pool } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { inverse, price, textOf } from './pools-live.tsx';
import { Tile } from './tile.tsx';
import { Foreign } from './token-text.tsx';

const symbolOf = (token: unknown): string =>
  (typeof token === 'object' && token !== null ? textOf(Reflect.get(token, 'symbol')) : null) ??
  'of the other token';

type Rate = { readonly amount: string; readonly symbol: string };

/** The price of one token in a pool that has it, which may be unknown, and the symbol of the other side. */
function rateOf({ data }: Pool, mint: string): Rate | null {
  const amount = Number(data.price) > 0 ? price(data.price) : 'unknown';
  if (data.tokenMintA === mint) return { amount, symbol: symbolOf(data.tokenB) };
  return data.tokenMintB === mint ? { amount: inverse(data.price), symbol: symbolOf(data.tokenA) } : null;
}

export type Trade =
  | { readonly type: 'reading' | 'not_known' }
  /** Every pool of the service was read, and none has the token. */
  | { readonly type: 'none'; readonly pools: number }
  | ({ readonly type: 'pool' } & Rate);

/** Whether the service's pools have a token. */
export function useTrade(mint: string): Trade {
  const reads = [
    useQuery('getDefaultPool', {}),
    useQuery('getSaethSausdPool', {}),
    useQuery('getSausdUsdcPool', {}),
  ];
  const [rate] = reads.flatMap(({ value }) => (value === null ? [] : (rateOf(value, mint) ?? [])));
  if (rate !== undefined) return { type: 'pool', ...rate };
  const unread = reads.filter(({ value }) => value === null);
  if (unread.length === 0) return { type: 'none', pools: reads.length };
  return { type: unread.some(({ failure }) => failure !== null) ? 'not_known' : 'reading' };
}

const ownText = (asset: string, { type }: Trade): string => {
  if (type === 'none') return `${asset} is in none of these pools.`;
  return type === 'pool' ? `${asset} is in one of these pools.` : '';
};

/** Whether the tokens of the service are in its pools. Nothing while it is not known. */
export function OwnTokens() {
  const summary = useQuery('getAbsrSummary', {}).value;
  const [absr, asry] = [useTrade(summary?.absrMint ?? ''), useTrade(summary?.asryMint ?? '')];
  return (
    <p class="fine below">
      {summary?.absrMint ? ownText('ABSR', absr) : ''} {summary?.asryMint ? ownText('ASRY', asry) : ''}
    </p>
  );
}

/** The price of a token in the first of the service's pools that has it. */
export const PriceTile = ({ trade }: { trade: Trade & { type: 'pool' } }) => (
  <Tile name="Price" value={trade.amount}>
    <Foreign text={trade.symbol} />, <a href="/pools">in its pool</a>
  </Tile>
);

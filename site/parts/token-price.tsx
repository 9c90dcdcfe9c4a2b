import type { Answer, Input } from '../../packages/client/src/index.ts';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { type Query, useQuery } from '../api/query.ts';
import { roundedUp, sol } from './format.ts';
import { InDollars } from './in-dollars.tsx';
import { Unavailable } from './notice.tsx';
import type { TokenDraft } from './token-draft.ts';

export type TokenQuote = Answer<'quoteToken'>;

/** Name and symbol of the most bytes. The service charges by the byte, so no token of the same kind costs more. */
const LONGEST = { name: 'N'.repeat(32), symbol: 'S'.repeat(10) };
const ORDERS: Readonly<Record<TokenDraft['program'], Input<'quoteToken'>>> = {
  'token-2022': { ...LONGEST, token_program: 'token-2022', metaplex_metadata: 'false' },
  token: { ...LONGEST, token_program: 'token', metaplex_metadata: 'true' },
};

/** What any token of a kind costs at most, and a listing. */
export const useTokenQuote = (program: TokenDraft['program'] = 'token-2022'): Query<TokenQuote> =>
  useQuery('quoteToken', ORDERS[program]);

/** Digits of a highest price. */
const DIGITS = 3;

type AtMostProps = {
  /** Undefined until it is read. */
  readonly lamports: number | undefined;
  readonly what?: string;
};

/** The most that an order asks for, in SOL and in dollars. */
export function AtMost({ lamports, what = 'At most' }: AtMostProps) {
  if (lamports === undefined) return <span class="price" />;
  const amount = roundedUp(formatAmount(BigInt(lamports), SOL_DECIMALS), DIGITS);
  return (
    <span class="price number">
      {what} {amount} SOL
      <InDollars amount={amount} currency="SOL" />
    </span>
  );
}

type PriceProps = { readonly what: string; readonly of: (quote: TokenQuote) => number };

/** A price of the operator, or why it cannot be read. */
function Price({ what, of }: PriceProps) {
  const { value, failure } = useTokenQuote();
  if (value === null && failure !== null) return <Unavailable failure={failure} />;
  return <AtMost what={what} lamports={value === null ? undefined : of(value)} />;
}

/** The price of a token before its form is opened. */
export const CreationPrice = () => <Price what="A token: at most" of={(quote) => quote.max_lamports} />;

/**
 * What the first transfer of a token to a new holder costs the sender, above the network fee.
 * @param breakdown of a token's price; undefined until it is read
 */
export function accountRent(breakdown: Readonly<Record<string, string>> | null | undefined): string {
  const rent = breakdown?.accountRent ?? '0';
  return rent === '0' ? 'the rent of an account' : `${sol(rent)} SOL`;
}

/** The price of listing a token that was created elsewhere. */
export const ListingPrice = () => (
  <Price what="A listing: at most" of={(quote) => quote.listing_max_lamports} />
);

/** What each of the operator's two prices buys. The service sends no transaction for a listing. */
export function PriceOrder() {
  const creation = useTokenQuote().value?.fee_breakdown.margin;
  if (creation === undefined) return null;
  return (
    <p class="fine">
      A listing buys a place in list and search. A creation buys the token too, for {sol(creation)} SOL plus
      what Solana charges. The operator sets both prices: no cost explains the gap.
    </p>
  );
}

import type { Child } from 'hono/jsx';
import type { Answer, Input } from '../../packages/client/src/index.ts';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { REQUEST_LIFE_MS } from '../../src/core/durations.ts';
import { type Query, useQuery } from '../api/query.ts';
import { roundedUp, sol } from './format.ts';
import { InDollars } from './in-dollars.tsx';
import { Loaded } from './loaded.tsx';
import type { TokenDraft } from './token-draft.ts';

const PARTS: Readonly<Record<string, string>> = {
  mintRent: 'Rent of the mint',
  metadataRent: 'Rent of the metadata',
  metadataFee: 'Fee of Metaplex',
  accountRent: 'Rent of your account',
  networkFee: 'Network fees',
  margin: 'Sluice: creation and listing',
  digits: 'Identifies your payment, up to',
};

/** @param breakdown lamports by part */
export const PriceParts = ({ breakdown }: { breakdown: Readonly<Record<string, string>> }) => (
  <dl class="receipt slim" aria-label="What the price pays for">
    {Object.entries(breakdown)
      .filter(([, lamports]) => lamports !== '0')
      .map(([part, lamports]) => (
        <div>
          <dt>{PARTS[part] ?? part}</dt>
          <dd>{sol(lamports)} SOL</dd>
        </div>
      ))}
  </dl>
);

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

/** The price of a token before its form is opened. */
export const CreationPrice = () => (
  <AtMost what="A token: at most" lamports={useTokenQuote().value?.max_lamports} />
);

/** The price of listing a token that was created elsewhere. */
export const ListingPrice = () => (
  <AtMost what="A listing: at most" lamports={useTokenQuote().value?.listing_max_lamports} />
);

/** How the two prices of the operator compare. */
export function PriceOrder() {
  const { value } = useTokenQuote();
  const creation = value?.fee_breakdown.margin;
  if (value === null || creation === undefined) return null;
  const listing = BigInt(value.listing_max_lamports);
  return (
    <p class="fine">
      The operator sets both prices. A creation costs {sol(creation)} SOL with its listing, above what Solana
      charges. A listing alone costs at most {roundedUp(formatAmount(listing, SOL_DECIMALS), DIGITS)} SOL
      {listing > BigInt(creation) ? ', which is more: the operator prices it so' : ''}.
    </p>
  );
}

const MINUTE_MS = 60_000;

/** What an order promises, and what it does not: read before anything is paid. */
export const AfterThat = () => (
  <div class="stack after">
    <h2 class="minor">What happens then</h2>
    <ol class="next">
      <li>
        The next step shows the exact price. You have {REQUEST_LIFE_MS / MINUTE_MS} minutes to pay it, with a
        wallet, a QR code or by hand. An order that you do not pay costs nothing.
      </li>
      <li>
        The payment is final after some 15 seconds. Usually the token exists within two minutes, and is listed
        here. You may close the page.
      </li>
      <li>
        What is too much, late, paid twice, or paid for a token that cannot be created goes back to the
        account that paid. The operator sends it, and promises no time.
      </li>
      <li>Wallets and explorers show a new token as unverified. A listing here does not change that.</li>
    </ol>
  </div>
);

/** @param children the button that orders, below the price */
export const TokenPrice = ({ quote, children }: { quote: Query<TokenQuote>; children?: Child }) => (
  <section class="card stack" aria-label="Price">
    <Loaded
      query={quote}
      waiting="Reading the price."
      hasAge={false}
      show={({ max_lamports: most, fee_lamports: fee, fee_breakdown: parts }) => (
        <>
          <AtMost lamports={most} />
          <details>
            <summary>What the price pays for</summary>
            <PriceParts breakdown={{ ...parts, digits: String(most - fee) }} />
            <p class="fine">
              Solana gets the rent and the network fees. Your wallet adds the fee of its transfer.
            </p>
          </details>
        </>
      )}
    />
    {children}
  </section>
);

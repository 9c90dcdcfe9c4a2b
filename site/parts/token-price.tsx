import { type Child, useEffect, useState } from 'hono/jsx';
import type { Answer, Input } from '../../packages/client/src/index.ts';
import { type Query, useQuery } from '../api/query.ts';
import { sol } from './format.ts';
import { InDollars } from './in-dollars.tsx';
import { Loaded } from './loaded.tsx';
import { draftFaults, type TokenDraft } from './token-draft.ts';

const PARTS: Readonly<Record<string, string>> = {
  mintRent: 'Rent of the mint',
  metadataRent: 'Rent of the metadata',
  metadataFee: 'Fee of Metaplex',
  accountRent: 'Rent of your account',
  networkFee: 'Network fees',
  margin: 'Sluice, listing included',
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

/** The service charges by the byte; names of usual length are used until the form has its own. */
const USUAL = { name: 'New Token', symbol: 'TOKEN' };
const TYPING_MS = 400;

function orderOf(draft: TokenDraft): Input<'quoteToken'> {
  const faults = draftFaults(draft);
  return {
    name: faults.name === undefined ? draft.name : USUAL.name,
    symbol: faults.symbol === undefined ? draft.symbol : USUAL.symbol,
    token_program: draft.program,
    metaplex_metadata: draft.program === 'token' ? 'true' : 'false',
  };
}

/** The price of a draft before anything is ordered; updates after a pause in typing. */
export function useTokenQuote(draft: TokenDraft): Query<TokenQuote> {
  const order = orderOf(draft);
  const wanted = JSON.stringify(order);
  const [asked, setAsked] = useState<Input<'quoteToken'> | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(order), asked === null ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  return useQuery('quoteToken', asked);
}

/** The price in SOL, and about how many dollars that is. */
export const Price = ({ quote: { amount } }: { quote: TokenQuote }) => (
  <>
    <strong class="number">{amount} SOL</strong> <InDollars amount={amount} currency="SOL" />
  </>
);

/** @param children above the price: the button that orders */
export const TokenPrice = ({ quote, children }: { quote: Query<TokenQuote>; children?: Child }) => (
  <section class="card stack" aria-label="Price">
    {children}
    <Loaded
      query={quote}
      waiting="Reading the price."
      show={(value) => (
        <>
          <p>
            <Price quote={value} />
          </p>
          <PriceParts breakdown={value.fee_breakdown} />
          <p class="fine">
            Solana gets the rent and the network fees. Up to 0.0002 SOL more identifies your payment, and your
            wallet adds the fee of its transfer.
          </p>
        </>
      )}
    />
  </section>
);

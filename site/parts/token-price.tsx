import { type Child, useEffect, useState } from 'hono/jsx';
import type { Answer, Input } from '../../packages/client/src/index.ts';
import { type Query, useQuery } from '../api/query.ts';
import { aboutUsd, sol } from './format.ts';
import { Loaded } from './loaded.tsx';
import { draftFaults, type TokenDraft } from './token-draft.ts';

const PARTS: Readonly<Record<string, string>> = {
  mintRent: 'Rent of the mint',
  metadataRent: 'Rent of the metadata',
  metadataFee: 'Fee of the metadata program',
  accountRent: 'Rent of your token account',
  networkFee: 'Network fees',
  margin: 'Service',
};

/** @param breakdown lamports by part */
export const PriceParts = ({ breakdown }: { breakdown: Readonly<Record<string, string>> }) => (
  <dl class="facts">
    {Object.entries(breakdown)
      .filter(([, lamports]) => lamports !== '0')
      .map(([part, lamports]) => (
        <>
          <dt>{PARTS[part] ?? part}</dt>
          <dd>{sol(lamports)} SOL</dd>
        </>
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

/** The price in SOL, and in dollars at the service's own price of SOL. */
export function Price({ quote }: { quote: TokenQuote }) {
  const summary = useQuery('getAbsrSummary', {}).value;
  const lamports = quote.fee_lamports.toString();
  return (
    <>
      <strong class="number">{sol(lamports)} SOL</strong>
      {aboutUsd(lamports, summary?.solPriceUsd)}
    </>
  );
}

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
            <Price quote={value} />{' '}
            <span class="fine">plus at most 0.0002 SOL, which identifies your payment</span>
          </p>
          <details class="more">
            <summary>What it pays for</summary>
            <PriceParts breakdown={value.fee_breakdown} />
          </details>
        </>
      )}
    />
  </section>
);

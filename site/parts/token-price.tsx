import { useEffect, useState } from 'hono/jsx';
import type { Input } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { sol } from './format.ts';
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

/** The price and its parts before anything is ordered; updates after a pause in typing. */
export function TokenPrice({ draft }: { draft: TokenDraft }) {
  const order = orderOf(draft);
  const wanted = JSON.stringify(order);
  const [asked, setAsked] = useState<Input<'quoteToken'> | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(order), asked === null ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const quote = useQuery('quoteToken', asked);
  return (
    <section class="card stack" aria-label="Price">
      <h2 class="minor">Price</h2>
      <Loaded
        query={quote}
        waiting="Reading the price."
        show={({ fee_lamports: lamports, fee_breakdown: breakdown }) => (
          <>
            <p>
              <strong class="number">{sol(lamports.toString())} SOL</strong>{' '}
              <span class="fine">plus a few lamports, so we recognise your payment</span>
            </p>
            <PriceParts breakdown={breakdown} />
          </>
        )}
      />
    </section>
  );
}

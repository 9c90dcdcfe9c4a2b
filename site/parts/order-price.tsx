import type { Child } from 'hono/jsx';
import type { Invoice } from '../../packages/client/src/index.ts';
import { REQUEST_LIFE_MS } from '../../src/core/durations.ts';
import type { Query } from '../api/query.ts';
import { sol } from './format.ts';
import { Loaded } from './loaded.tsx';
import { AtMost, type TokenQuote } from './token-price.tsx';

const PARTS: Readonly<Record<string, string>> = {
  mintRent: 'Rent of the mint',
  metadataRent: 'Rent of the metadata',
  metadataFee: 'Fee of Metaplex',
  accountRent: 'Rent of your account',
  networkFee: 'Network fees',
  margin: 'Sluice: creation and listing',
  digits: 'Identifies your payment',
  mostDigits: 'Identifies your payment, at most',
};

type Parts = Readonly<Record<string, string>>;

/** All parts of an order's price. The breakdown lacks the amount that identifies the payment. */
export function partsOf({ fee_lamports: fee, fee_breakdown: parts }: Invoice): Parts {
  if (parts === null) return {};
  const known = Object.values(parts).reduce((sum, lamports) => sum + BigInt(lamports), 0n);
  return { ...parts, digits: String(BigInt(fee) - known) };
}

/** @param breakdown lamports by part */
export const PriceParts = ({ breakdown }: { breakdown: Parts }) => (
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

const MINUTE_MS = 60_000;

/** What an order promises and what it does not, shown before anything is paid. */
export const AfterThat = () => (
  <div class="stack after">
    <h2 class="minor">What happens then</h2>
    <ol class="next">
      <li>
        The service simulates the creation: name, supply, rights and wallet. Then you see the exact price.
      </li>
      <li>
        You have {REQUEST_LIFE_MS / MINUTE_MS} minutes to pay it, with a wallet, a QR code or by hand. An
        order that you do not pay is free.
      </li>
      <li>
        The payment is final after about 15 seconds. Usually the token exists within two minutes, and is
        listed here. You may close the page.
      </li>
      <li>
        An excess, a late or second payment, and the payment for a token that cannot be created go back to the
        payer. The operator starts each refund by hand, at no fixed time. Your order's page shows what is
        owed.
      </li>
      <li>Wallets and explorers show a new token as unverified. A listing here does not change that.</li>
    </ol>
  </div>
);

/** @param children the button that orders, below the price */
export const TokenPrice = ({ quote, children }: { quote: Query<TokenQuote>; children?: Child }) => (
  <section class="card stack pricing" aria-label="Price">
    <Loaded
      query={quote}
      waiting="Reading the price."
      hasAge={false}
      show={({ max_lamports: most, fee_lamports: fee, fee_breakdown: parts }) => (
        <>
          <AtMost lamports={most} />
          <details>
            <summary>What the price pays for</summary>
            <PriceParts breakdown={{ ...parts, mostDigits: String(most - fee) }} />
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

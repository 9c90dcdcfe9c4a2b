import type { TokenRecord } from '../../packages/client/src/index.ts';
import { jupiterUrl, OnChain, orcaUrl } from './explorer-links.tsx';
import { counted } from './format.ts';
import type { Trade } from './pool-price.tsx';

/** Where a token of the reserve comes from. Any other token comes from its creator and its holders. */
const Source = ({ official }: Pick<TokenRecord, 'official'>) => {
  switch (official?.asset) {
    case 'ABSR':
      return <p>The service sells none: each new ABSR goes to the operator's treasury.</p>;
    case 'ASRY':
      return (
        <p>
          The service gives it to those who fund it: <a href="/asry">how to earn ASRY</a>.
        </p>
      );
    default:
      return (
        <p>
          Ask whoever sent you this link, or anyone who holds the token, to send some to your wallet's
          address.
        </p>
      );
  }
};

/** Where a token has a market price, as far as the pools of the service show it. */
const Market = ({ mint, trade }: { mint: string; trade: Trade }) => {
  switch (trade.type) {
    case 'reading':
      return <p class="fine by-script">Looking for a market price in the pools of this site.</p>;
    case 'not_known':
      return <p class="fine">Market price not known: a pool of this site cannot be read.</p>;
    case 'none':
      return (
        <p class="fine">Not traded in any of the {counted(trade.pools, 'pool')} that this site reads.</p>
      );
    case 'pool':
      return (
        <>
          <p>It trades in a pool at Orca, which this site reads.</p>
          <p class="row">
            <OnChain href={orcaUrl(mint)}>Its pools at Orca</OnChain>
            <OnChain href={jupiterUrl(mint)}>Its price at Jupiter</OnChain>
          </p>
          <p class="fine">Compare the whole mint address there: anyone can copy a name and a picture.</p>
        </>
      );
  }
};

/** How a visitor gets some of a token, as far as the service knows. */
export const HowToGet = ({ token, trade }: { token: TokenRecord; trade: Trade }) => (
  <div class="card stack">
    <h2 class="minor">How to get some</h2>
    <Source official={token.official} />
    <Market mint={token.mint_address} trade={trade} />
  </div>
);

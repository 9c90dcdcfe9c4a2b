import type { TokenRecord } from '../../packages/client/src/index.ts';
import { Away, jupiterUrl, orcaUrl } from './explorer-links.tsx';
import { counted } from './format.ts';
import type { Trade } from './pool-price.tsx';

/** Where a token of the reserve comes from; any other one comes from its creator and its holders. */
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
      return <p>Sluice sells none. Ask its creator, or anyone who has some, to send it to your wallet.</p>;
  }
};

function marketText(trade: Trade): string {
  switch (trade.type) {
    case 'reading':
      return 'Looking into the pools of this site.';
    case 'not_known':
      return 'Whether a pool of this site has it is not known right now.';
    case 'none':
      return `None of the ${counted(trade.pools, 'pool')} that this site reads has it. Others may.`;
    case 'pool':
      return 'It trades in a pool at Orca, which this site reads.';
  }
}

/** How a visitor gets some of a token, as far as the service knows. */
export const HowToGet = ({ token, trade }: { token: TokenRecord; trade: Trade }) => (
  <div class="card stack">
    <h2 class="minor">How to get some</h2>
    <Source official={token.official} />
    <p>{marketText(trade)}</p>
    <p class="row">
      <Away href={orcaUrl(token.mint_address)}>Its pools at Orca</Away>
      <Away href={jupiterUrl(token.mint_address)}>Its price at Jupiter</Away>
    </p>
    <p class="fine">Compare the whole mint address there: anyone can copy a name and a picture.</p>
  </div>
);

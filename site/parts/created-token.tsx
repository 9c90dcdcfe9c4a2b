import type { Invoice, TokenRecord } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { Away, orcaUrl } from './explorer-links.tsx';
import { Loaded } from './loaded.tsx';
import { useTrade } from './pool-price.tsx';
import { TokenAddress, TokenCard } from './token-card.tsx';
import { tokenUrl } from './token-url.ts';

/** The finished token to share, and the next steps of its creator. */
export function CreatedToken({ invoice }: { invoice: Invoice }) {
  const { mint_address: mint } = invoice;
  const token = useQuery('getToken', mint === null ? null : { id: mint });
  return (
    <>
      <h2>Your token is created and listed.</h2>
      {mint === null ? null : (
        <a class="button start" href={tokenUrl(mint)}>
          Open its page
        </a>
      )}
      <div class="split">
        <div class="stack">
          <Loaded
            query={token}
            waiting="Reading the token from the chain."
            hasAge={false}
            show={(value) => <Shown token={value} />}
          />
        </div>
        {mint === null ? null : <NextSteps mint={mint} isFixed={invoice.revoke_update_authority} />}
      </div>
    </>
  );
}

const Shown = ({ token }: { token: TokenRecord }) => (
  <TokenCard token={token} trade={useTrade(token.mint_address)} isPart>
    <TokenAddress token={token} />
  </TokenCard>
);

/** @param isFixed whether nobody may change name and picture */
const NextSteps = ({ mint, isFixed }: { mint: string; isFixed: boolean }) => (
  <div class="stack">
    <h2 class="minor">What comes next</h2>
    <ul class="next">
      <li>
        Give some to a friend: the whole supply is in your wallet. Ask for the address of their Solana wallet,
        and send from yours.
      </li>
      <li>The token's page stays up to date: share its link.</li>
      <li>
        To let strangers buy it, <Away href={orcaUrl(mint)}>create a pool at Orca</Away> with some of it, and
        with SOL or USDC of your own.
      </li>
      {isFixed ? null : <li>Its picture can change: any tool that updates token metadata will do.</li>}
    </ul>
  </div>
);

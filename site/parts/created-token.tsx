import type { Invoice, TokenRecord } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { OnChain, orcaUrl } from './explorer-links.tsx';
import { LinkPreview } from './link-preview.tsx';
import { Loaded } from './loaded.tsx';
import { TokenActions, TokenAddress } from './token-card.tsx';
import { ForeignPicture } from './token-picture.tsx';
import { accountRent } from './token-price.tsx';
import { tokenUrl } from './token-url.ts';
import { TokenHead } from './token-view.tsx';

/** The finished token to share, and the next steps of its creator. */
export function CreatedToken({ invoice }: { invoice: Invoice }) {
  const { mint_address: mint } = invoice;
  const token = useQuery('getToken', mint === null ? null : { id: mint });
  return (
    <>
      <h2>Your token is created and listed.</h2>
      <div class="split">
        <div class="stack">
          <Loaded
            query={token}
            waiting="Reading the token from the chain."
            hasAge={false}
            show={(value) => <Shown token={value} />}
          />
        </div>
        {mint === null ? null : <NextSteps mint={mint} token={token.value} invoice={invoice} />}
      </div>
    </>
  );
}

const Shown = ({ token }: { token: TokenRecord }) => (
  <div class="token-view">
    <div class="group">
      <TokenHead
        token={token}
        isPart
        picture={<ForeignPicture symbol={token.symbol} seed={token.mint_address} image={token.image} />}
      />
      <TokenActions token={token} isElsewhere />
    </div>
    <TokenAddress token={token} />
  </div>
);

const AboutPicture = ({
  image,
  revoke_update_authority: isFixed,
}: Pick<Invoice, 'image' | 'revoke_update_authority'>) => {
  if (!isFixed) return <li>You can change its picture with any tool that updates token metadata.</li>;
  return image === null ? null : (
    <li>
      <strong>Keep its picture online.</strong> The token has only a link to it, which nobody can change.
    </li>
  );
};

type NextStepsProps = {
  readonly mint: string;
  /** Null until it is read from the chain. */
  readonly token: TokenRecord | null;
  readonly invoice: Pick<Invoice, 'fee_breakdown' | 'image' | 'revoke_update_authority'>;
};

const NextSteps = ({ mint, token, invoice }: NextStepsProps) => (
  <div class="stack">
    <h2 class="minor">What comes next</h2>
    <ol class="next">
      <li>
        <strong>Give some to a friend.</strong> The whole supply is in your wallet. Ask for the address of
        their Solana wallet, and send from yours. For each person's first tokens, your wallet also pays{' '}
        {accountRent(invoice.fee_breakdown)} to Solana. To sell some, agree on a price, and send once you are
        paid.
      </li>
      <li>
        <strong>
          Share <a href={tokenUrl(mint)}>its page</a>.
        </strong>
        {token === null ? null : (
          <>
            {' '}
            In a chat, the link looks roughly like this:
            <LinkPreview token={token} />
          </>
        )}
      </li>
      <li>
        <strong>Let strangers buy it.</strong> <OnChain href={orcaUrl(mint)}>Create a pool at Orca</OnChain>{' '}
        with some of it, and with SOL or USDC of your own.
      </li>
      <AboutPicture {...invoice} />
    </ol>
  </div>
);

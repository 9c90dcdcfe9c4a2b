import { Live, type Page, Title } from '../layout.tsx';
import { ListingRequest } from '../parts/listing-request.tsx';
import { TokenDetail } from '../parts/token-detail.tsx';
import { TokenCreator } from '../parts/token-form.tsx';
import { TokenBrowser } from '../parts/token-list.tsx';

export const tokens: Page = {
  path: '/tokens',
  title: 'Tokens',
  description: 'Tokens made here or listed here: search, look at them, create your own.',
  script: 'tokens',
  Content: () => (
    <>
      <Title name="Tokens">
        Tokens that were made or listed here. Names are what their creators chose; the mint address tells them
        apart.
      </Title>
      <p class="row">
        <a class="button" href="/tokens/new">
          Create a token
        </a>
      </p>
      <section>
        <Live name="browser" json="/api/tokens">
          <TokenBrowser />
        </Live>
      </section>
      <section id="list">
        <h2>List a token made elsewhere</h2>
        <p>A listed token is found by search. It must carry its name on the chain.</p>
        <Live name="listing">
          <div class="card narrow">
            <ListingRequest />
          </div>
        </Live>
      </section>
    </>
  ),
};

export const newToken: Page = {
  path: '/tokens/new',
  title: 'Create a token',
  description:
    'A Solana token that wallets show by name, listed, for a small fee. Scan a code, and it is made.',
  script: 'new-token',
  Content: () => (
    <>
      <Title name="Create a token">
        Fill in the form, scan a code with your wallet, and the token is made and listed. Everything is
        checked before you pay.
      </Title>
      <Live name="creator" json="/llms.txt">
        <TokenCreator />
      </Live>
    </>
  ),
};

export const token: Page = {
  path: '/token',
  title: 'Token',
  description: 'One token: its address, supply, creator and listing.',
  script: 'token',
  Content: () => (
    <>
      <noscript>
        <h1>Token</h1>
      </noscript>
      <p class="trail">
        <a href="/tokens">All tokens</a>
      </p>
      <Live name="token" json="/api/tokens">
        <TokenDetail />
      </Live>
    </>
  ),
};

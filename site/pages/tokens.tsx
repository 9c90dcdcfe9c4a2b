import { Live, type Page, Title } from '../layout.tsx';
import { ListingRequest } from '../parts/listing-request.tsx';
import { TokenDetail } from '../parts/token-detail.tsx';
import { TokenCreator } from '../parts/token-form.tsx';
import { TokenBrowser } from '../parts/token-list.tsx';
import { TokenOffer } from '../parts/token-offer.tsx';
import { CreationPrice } from '../parts/token-price.tsx';

export const tokens: Page = {
  path: '/tokens',
  title: 'Tokens',
  description: 'Tokens created or listed here: search them, open their page, create your own.',
  script: 'tokens',
  Content: () => (
    <>
      <Title name="Tokens">
        Make your own Solana token: a name, a supply and one payment. It gets a page here to share.
      </Title>
      <p class="row">
        <a class="button" href="/tokens/new">
          Create a token
        </a>
        <a class="button quiet" href="#list">
          List yours
        </a>
      </p>
      <Live name="order" />
      <p class="live" data-island="price">
        <CreationPrice />
      </p>
      <section>
        <Live name="browser" json="/api/tokens">
          <TokenBrowser />
        </Live>
      </section>
      <section id="list">
        <h2>List a token created elsewhere</h2>
        <p>
          A listed token is found by search. Its name must be on the chain. You pay for a listing once, in the
          next step.
        </p>
        <Live name="listing">
          <div class="card narrow half">
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
    'Create a Solana token for a small fee: wallets show its name, and this site lists it. Pay with your wallet or a QR code.',
  script: 'new-token',
  Content: () => (
    <>
      <Title name="Create a token">
        Name, symbol, supply and wallet; the rest is optional. You see the exact price before you pay.
      </Title>
      <Live name="creator" isForm>
        <TokenCreator />
      </Live>
      <section>
        <h2>What you get</h2>
        <TokenOffer />
      </section>
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
      <Live name="token" json="/api/tokens">
        <TokenDetail />
      </Live>
      <p class="trail row">
        <a href="/tokens">All tokens</a>
        <a href="/tokens/new">Create your own</a>
      </p>
    </>
  ),
};

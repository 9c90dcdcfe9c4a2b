import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { Live, type Page } from '../layout.tsx';
import { NewestTokens } from '../parts/newest-tokens.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';
import { Flow } from '../parts/overview-flow.tsx';
import { Acts, Hero } from '../parts/overview-hero.tsx';
import { RecentEvents } from '../parts/recent-events.tsx';
import { ReserveHistory } from '../parts/reserve-history.tsx';
import { AbsrPurpose } from '../parts/token-card.tsx';
import { CreationPrice } from '../parts/token-price.tsx';

const History = () => (
  <div class="split">
    <section>
      <h2>Reserve against supply</h2>
      <Live name="chart" json="/api/proof/history">
        <ReserveHistory />
      </Live>
    </section>
    <section>
      <h2>Last events</h2>
      <Live name="events" json="/api/arbitrage/transactions">
        <RecentEvents />
      </Live>
      <p class="trail">
        <a href="/reserves#origins">All swaps</a>
      </p>
    </section>
  </div>
);

/** What visitors made here, and what a new one costs. */
const Made = () => (
  <section>
    <h2>Make your own token</h2>
    <p>
      A name on Solana, a picture in wallets, a page to share. Sluice keeps no right over supply, name or
      balances.
    </p>
    <div class="live" data-island="newest">
      <NewestTokens />
    </div>
    <p class="row below">
      <a class="button" href="/tokens/new">
        Create a token
      </a>
      <span class="live" data-island="price">
        <CreationPrice />
      </span>
    </p>
  </section>
);

/** What a visitor can do here besides checking. */
const Build = () => (
  <section>
    <h2>Use it</h2>
    <ul class="ways">
      <li class="asry">
        <h3>
          <a href="/asry">Fund the service</a>
        </h3>
        <p>Pay USDC or USDT, which is not returned, and receive ASRY, which is no share of the reserve.</p>
      </li>
      <li class="btc">
        <h3>
          <a href="/agents">Connect an agent, or build with it</a>
        </h3>
        <p>{TOOLS.length} tools for agents over MCP, or plain HTTP. Neither needs a key or an account.</p>
      </li>
    </ul>
  </section>
);

const Mints = () => (
  <section>
    <h2>The two tokens of this service</h2>
    <p>Names can be copied: only these mints are real.</p>
    <Live name="mints" json="/api/arbitrage/summary">
      <OfficialMints />
    </Live>
  </section>
);

export const overview: Page = {
  path: '/',
  title: 'a Bitcoin reserve that anyone can check',
  description:
    'A public Bitcoin reserve funded from Solana. See what it holds, verify the proof in your browser, and use it through a JSON API or MCP.',
  script: 'overview',
  Content: () => (
    <>
      <div class="hero">
        <div class="hero-text">
          <h1>A Bitcoin reserve that anyone can check</h1>
          <p class="lead">
            Sluice swaps SOL for BTC in public, and counts each sat on Solana as one ABSR. You can see what
            the operator does with the sats, but cannot prevent it:{' '}
            <a href="/trust#wrong">what can go wrong</a>.
          </p>
          <div class="hero-more">
            <h2 class="minor">What ABSR is for</h2>
            <AbsrPurpose />
            <div data-island="acts">
              <Acts />
            </div>
          </div>
        </div>
        <div class="hero-check">
          <Live name="hero" json="/api/arbitrage/summary">
            <Hero />
          </Live>
        </div>
      </div>
      <section class="flow-section">
        <h2>From SOL to BTC to ABSR</h2>
        <Live name="flow" json="/api/reserves">
          <Flow />
        </Live>
      </section>
      <History />
      <Made />
      <Build />
      <Mints />
    </>
  ),
};

import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { Live, type Page } from '../layout.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';
import { Flow } from '../parts/overview-flow.tsx';
import { Hero } from '../parts/overview-hero.tsx';
import { RecentEvents } from '../parts/recent-events.tsx';
import { ReserveHistory } from '../parts/reserve-history.tsx';
import { CreationPrice } from '../parts/token-price.tsx';

const History = () => (
  <div class="split">
    <section>
      <h2>Reserve against supply</h2>
      <p>Headroom: sats without an ABSR. Below zero, sats would be missing.</p>
      <Live name="chart" json="/api/proof/history">
        <ReserveHistory />
      </Live>
    </section>
    <section>
      <h2>Last events</h2>
      <Live name="events" json="/api/arbitrage/transactions">
        <RecentEvents />
      </Live>
    </section>
  </div>
);

/** What a visitor can do here besides checking. */
const Build = () => (
  <section>
    <h2>Use it</h2>
    <ul class="ways">
      <li class="absr">
        <h3>Create a token of your own</h3>
        <p>
          Your name, symbol and picture. The whole supply is in your wallet, and Sluice keeps no right over
          it.
        </p>
        <p>
          <a href="/tokens/new">Create a token</a>{' '}
          <span class="live" data-island="price">
            <CreationPrice />
          </span>
        </p>
      </li>
      <li class="asry">
        <h3>Fund the service</h3>
        <p>
          Pay USDC or USDT and receive ASRY as thanks, the earlier the more. It is no share of the reserve,
          and the payment is not returned.
        </p>
        <p>
          <a href="/asry">Fund the service</a>
        </p>
      </li>
      <li class="btc">
        <h3>Build with it</h3>
        <p>{TOOLS.length} tools for agents over MCP, or plain HTTP. Neither needs a key or an account.</p>
        <p>
          <a href="/agents">Connect an agent</a>
        </p>
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
            Sluice swaps SOL into BTC in public, and counts each sat on Solana as one ABSR. You can see what
            the operator does with it, but not prevent it.
          </p>
        </div>
        <div class="hero-check">
          <Live name="hero" json="/api/arbitrage/summary">
            <Hero />
          </Live>
        </div>
        <ul class="hero-links">
          <li>
            <a href="/trust#wrong">What can go wrong</a>
          </li>
          <li>
            <a href="/reserves#origins">Where sats came from</a>
          </li>
        </ul>
      </div>
      <section class="flow-section">
        <h2>From SOL to BTC to ABSR</h2>
        <Live name="flow" json="/api/reserves">
          <Flow />
        </Live>
      </section>
      <History />
      <Build />
      <Mints />
    </>
  ),
};

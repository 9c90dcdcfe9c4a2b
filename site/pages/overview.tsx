import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { Live, type Page } from '../layout.tsx';
import { CheckSource } from '../parts/check-source.tsx';
import { Folded } from '../parts/folded.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';
import { Flow } from '../parts/overview-flow.tsx';
import { Hero } from '../parts/overview-hero.tsx';
import { RecentEvents } from '../parts/recent-events.tsx';
import { ReserveHistory } from '../parts/reserve-history.tsx';
import { NewestTokens } from '../parts/token-list.tsx';
import { TokenOffer } from '../parts/token-offer.tsx';
import { UsualPrice } from '../parts/usual-price.tsx';

const History = () => (
  <div class="split">
    <section>
      <h2>Reserve against supply</h2>
      <p>As both reserve keys signed them. The reserve must never fall below the supply.</p>
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

const Create = () => (
  <section>
    <h2>Create a token of your own</h2>
    <TokenOffer />
    <p class="row">
      <a class="button" href="/tokens/new">
        Create a token
      </a>
    </p>
    <Folded summary="Show the newest tokens">
      <Live name="tokens" json="/api/tokens">
        <NewestTokens />
      </Live>
    </Folded>
    <p class="fine below">
      Only its mint identifies a token. <a href="/tokens">All tokens</a>
    </p>
  </section>
);

const Mints = () => (
  <section>
    <h2>The two tokens of the reserve</h2>
    <p>
      ABSR counts the sats. ASRY rewards those who fund the service. Names can be copied: only these mints are
      real.
    </p>
    <Live name="mints" json="/api/arbitrage/summary">
      <OfficialMints />
    </Live>
  </section>
);

const How = () => (
  <section id="how">
    <h2>How it works</h2>
    <Folded summary="Three steps">
      <ol class="ways">
        <li class="sol">
          <h3>SOL comes in</h3>
          <p>
            Fees and payments arrive on Solana. The reserve swaps its SOL into BTC through a bridge. The
            service checks the bridge's signed quote before it pays. The custodian signs only transactions
            that it built itself.
          </p>
        </li>
        <li class="btc">
          <h3>BTC stays</h3>
          <p>
            The BTC goes to one fixed address. A swap is finished only when the service itself sees the coins
            confirmed there.
          </p>
        </li>
        <li class="absr">
          <h3>ABSR follows</h3>
          <p>
            Once a day the service mints ABSR for the confirmed sats that have none yet. Two independent
            sources of Bitcoin must agree on the amount.
          </p>
        </li>
      </ol>
    </Folded>
  </section>
);

const Agents = () => (
  <section>
    <h2>For agents and programs</h2>
    <p>
      {TOOLS.length} tools over MCP, or plain HTTP, without a key or an account.{' '}
      <a href="/agents">Connect an agent</a>
    </p>
  </section>
);

export const overview: Page = {
  path: '/',
  title: 'a Bitcoin reserve that anyone can check',
  description:
    'A public Bitcoin reserve funded from Solana. See what it holds, verify the proof in your browser, and use it through a JSON API or MCP.',
  script: 'overview',
  Content: ({ assets }) => (
    <>
      <div class="hero">
        <div class="hero-text">
          <h1>A Bitcoin reserve that anyone can check</h1>
          <p class="lead">
            Most reserves ask you to believe a statement. Sluice swaps its SOL into BTC in public, proves the
            balance with both keys, and counts each sat on Solana as one ABSR.
          </p>
          <p class="row">
            <a class="button" href="/tokens/new">
              Create a token
            </a>
            <a class="button quiet" href="/asry">
              Fund the service
            </a>
          </p>
          <p class="live price" data-island="price">
            <UsualPrice />
          </p>
        </div>
        <div class="hero-check">
          <Live name="hero" json="/api/arbitrage/summary">
            <Hero />
          </Live>
        </div>
        <p class="row hero-links">
          <a href="/trust">Whom you trust</a>
          <a href="/reserves#terminal">Check from a terminal</a>
          <span>
            Read <CheckSource source={assets.release.source} />
          </span>
        </p>
      </div>
      <Live name="flow" json="/api/reserves">
        <Flow />
      </Live>
      <Create />
      <History />
      <How />
      <Mints />
      <Agents />
    </>
  ),
};

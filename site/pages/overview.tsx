import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { Live, type Page } from '../layout.tsx';
import { Flow } from '../parts/overview-flow.tsx';
import { RecentEvents } from '../parts/recent-events.tsx';
import { OverviewChart } from '../parts/reserve-history.tsx';
import { ServiceState } from '../parts/service-state.tsx';

export const overview: Page = {
  path: '/',
  title: 'a Bitcoin reserve that anyone can check',
  description:
    'A public Bitcoin reserve funded from Solana. See what it holds, verify the proof in your browser, and use it through a JSON API or MCP.',
  script: 'overview',
  Content: () => (
    <>
      <div class="hero">
        <h1>A Bitcoin reserve that anyone can check</h1>
        <p class="lead">
          Sluice swaps SOL into BTC, keeps the BTC at one public address, and mints one ABSR for each sat in
          the reserve.
        </p>
        <p class="row">
          <a class="button" href="/reserves#verify">
            Verify it in your browser
          </a>
          <a class="button quiet" href="#how">
            How it works
          </a>
        </p>
      </div>
      <Live name="flow" json="/api/reserves">
        <Flow />
      </Live>
      <div class="split">
        <section>
          <h2>Reserve against supply</h2>
          <p>
            Each point is a proof signed by both reserve keys. The reserve must never fall below the supply.
          </p>
          <Live name="chart" json="/api/proof/history">
            <OverviewChart />
          </Live>
        </section>
        <section>
          <h2>Last events</h2>
          <p>Finished swaps, mints and the newest proof.</p>
          <Live name="events" json="/api/arbitrage/transactions">
            <RecentEvents />
          </Live>
        </section>
      </div>
      <section id="how">
        <h2>How it works</h2>
        <ol class="ways">
          <li class="sol">
            <h3>SOL comes in</h3>
            <p>
              Fees and deposits arrive on Solana. The reserve swaps its SOL into BTC through a bridge. The
              bridge signs its quote, and the service checks it before it pays. The custodian signs only
              transactions that it built itself.
            </p>
          </li>
          <li class="btc">
            <h3>BTC stays</h3>
            <p>
              The BTC goes to one fixed address. A swap is finished only when the coins are confirmed there,
              as seen by the service itself.
            </p>
          </li>
          <li class="absr">
            <h3>ABSR follows</h3>
            <p>
              Once a day the confirmed sats in excess of the supply are minted as ABSR, never more than two
              independent views of Bitcoin confirm.
            </p>
          </li>
        </ol>
      </section>
      <div class="split">
        <section>
          <h2>Use it</h2>
          <ul class="doors">
            <li>
              <a href="/tokens/new">Create a token</a>
              <span class="fine">Named, listed and paid from your wallet</span>
            </li>
            <li>
              <a href="/asry">Earn ASRY</a>
              <span class="fine">Rewards for deposits of USDC or USDT</span>
            </li>
            <li>
              <a href="/agents">Connect an agent</a>
              <span class="fine">{TOOLS.length} tools over MCP, or plain HTTP</span>
            </li>
          </ul>
        </section>
        <section>
          <h2>The service</h2>
          <Live name="state" json="/api/status">
            <ServiceState />
          </Live>
        </section>
      </div>
    </>
  ),
};

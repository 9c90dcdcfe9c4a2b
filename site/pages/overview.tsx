import { Live, type Page } from '../layout.tsx';
import { OverviewChart, OverviewFigures, RecentEvents, ServiceState } from '../parts/overview-live.tsx';

export const overview: Page = {
  path: '/',
  title: 'a Bitcoin reserve that anybody can check',
  description:
    'A public Bitcoin reserve funded from Solana. See what it holds, verify the proof in your browser, and use it through a JSON API or MCP.',
  script: 'overview',
  Content: () => (
    <>
      <div class="hero">
        <h1>A Bitcoin reserve that anybody can check</h1>
        <p class="lead">
          Sluice turns SOL into BTC, keeps the BTC in one public address, and issues one ABSR for each sat
          that is there. Look at the figures, then verify them against strangers in your own browser.
        </p>
        <p class="row">
          <a class="button" href="/reserves#verify">
            Verify the reserve
          </a>
          <a class="button quiet" href="/agents">
            Connect an agent
          </a>
          <a class="button quiet" href="/tokens/new">
            Create a token
          </a>
        </p>
      </div>
      <Live name="figures" json="/api/reserves">
        <OverviewFigures />
      </Live>
      <section>
        <h2>Reserve against supply</h2>
        <p>
          Each point is a proof that both reserve keys have signed. The line must never lie below the dashes.
        </p>
        <Live name="chart" json="/api/proof/history">
          <OverviewChart />
        </Live>
      </section>
      <div class="split">
        <section>
          <h2>What happened last</h2>
          <p>Swaps that brought sats, and the daily mint of ABSR.</p>
          <Live name="events" json="/api/arbitrage/transactions">
            <RecentEvents />
          </Live>
        </section>
        <section>
          <h2>The service now</h2>
          <p>Limits hold what can be lost on any one day.</p>
          <Live name="state" json="/api/status">
            <div class="card">
              <ServiceState />
            </div>
          </Live>
        </section>
      </div>
      <section>
        <h2>How it works</h2>
        <div class="columns">
          <div class="card stack">
            <h3>SOL goes in</h3>
            <p>
              Fees and deposits arrive in SOL and stable coins. The reserve swaps its SOL into BTC through a
              bridge whose quote is signed and checked before anything is paid.
            </p>
          </div>
          <div class="card stack">
            <h3>BTC stays</h3>
            <p>
              The BTC is paid to one address that never changes with a request. A swap is finished only when
              the coins are confirmed there.
            </p>
          </div>
          <div class="card stack">
            <h3>ABSR follows</h3>
            <p>
              Once a day the confirmed sats beyond the supply are minted as ABSR. It is never more than what
              two independent views of Bitcoin agree on.
            </p>
          </div>
        </div>
      </section>
    </>
  ),
};

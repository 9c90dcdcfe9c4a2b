import { Live, type Page, Title } from '../layout.tsx';
import { SwapHistory } from '../parts/swap-history.tsx';
import { SwapPanel } from '../parts/swap-panel.tsx';

export const swap: Page = {
  path: '/swap',
  title: 'Reserve swap',
  description: "Swap the reserve's SOL for BTC: get a quote, start the swap, and follow both transactions.",
  script: 'swap',
  Content: () => (
    <>
      <Title name="Swap the reserve's SOL for BTC">
        You gain nothing and pay nothing: a swap turns the reserve's SOL into the reserve's BTC. Anyone may
        start one, within limits. <a href="/exchange">Exchange your own coins</a> instead.
      </Title>
      <Live name="swap" json="/api/swap/min">
        <SwapPanel />
      </Live>
      <section>
        <h2>History</h2>
        <p>Each swap that reached Solana, with the Bitcoin transaction of its payout.</p>
        <Live name="history" json="/api/exchanges/transactions">
          <SwapHistory />
        </Live>
      </section>
    </>
  ),
};

import { Live, type Page, Title } from '../layout.tsx';
import { ExchangePanel } from '../parts/exchange-panel.tsx';
import { SwapHistory } from '../parts/swap-history.tsx';
import { SwapPanel } from '../parts/swap-panel.tsx';

export const swap: Page = {
  path: '/swap',
  title: 'Swap and exchange',
  description:
    'Swap SOL of the reserve into BTC, with a quote and a dry run first, or exchange coins of your own.',
  script: 'swap',
  Content: () => (
    <>
      <Title name="Swap and exchange">
        Start a swap of the reserve’s SOL into BTC and watch both transactions, or exchange coins of your own
        through a provider.
      </Title>
      <section>
        <h2>Swap of the reserve</h2>
        <p>
          A quote first, then a dry run, then the real one. Limits hold what can move in an hour and a day.
        </p>
        <Live name="swap" json="/api/swap/min">
          <SwapPanel />
        </Live>
      </section>
      <section>
        <h2>History</h2>
        <p>Every swap that landed on Solana, with the Bitcoin transaction that paid it.</p>
        <Live name="history" json="/api/exchanges/transactions">
          <SwapHistory />
        </Live>
      </section>
      <section id="exchange">
        <h2>Exchange of your own coins</h2>
        <p>
          The service hands your order to a provider and shows what becomes of it. It never holds your coins.
        </p>
        <Live name="exchange" json="/api/exchange/min?from=sol&to=btc">
          <ExchangePanel />
        </Live>
      </section>
    </>
  ),
};

import { Live, type Page, Title } from '../layout.tsx';
import { ExchangePanel } from '../parts/exchange-panel.tsx';

export const exchange: Page = {
  path: '/exchange',
  title: 'Exchange',
  description:
    'Exchange your own coins through a provider. Sluice forwards the order and never holds your coins.',
  script: 'exchange',
  Content: () => (
    <>
      <Title name="Exchange your own coins">
        Sluice forwards your order to ChangeNOW and shows its progress. It never holds your coins.
      </Title>
      <Live name="exchange" json="/api/exchange/min?from=sol&to=btc">
        <ExchangePanel />
      </Live>
    </>
  ),
};

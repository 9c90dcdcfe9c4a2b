import { Live, type Page, Title } from '../layout.tsx';
import { OwnTokens } from '../parts/pool-price.tsx';
import { Pools } from '../parts/pools-live.tsx';

export const pools: Page = {
  path: '/pools',
  title: 'Pools',
  description: 'Prices and depth of three Orca pools, with their source and age.',
  script: 'pools',
  Content: () => (
    <>
      <Title name="Pools">
        Three pools on Orca that the operator has chosen. Anyone can use any symbol: this site does not check
        who issues the tokens, and nothing here is advice. Coins in pools are not in the reserve and do not
        back ABSR.
      </Title>
      <Live name="pools" json="/api/dex/pool-default">
        <Pools />
      </Live>
      <Live name="own">
        <OwnTokens />
      </Live>
      <p class="fine below">
        When Orca’s API does not respond, the figures are read from the chain. Each pool shows the source and
        time of its figures.
      </p>
    </>
  ),
};

import { Live, type Page, Title } from '../layout.tsx';
import { Pools } from '../parts/pools-live.tsx';

export const pools: Page = {
  path: '/pools',
  title: 'Pools',
  description: 'Prices and depth of three Orca pools, with their source and age.',
  script: 'pools',
  Content: () => (
    <>
      <Title name="Pools">
        Three pools on Orca, where anyone can trade these tokens. Nothing here is advice, and coins in pools
        are not in the reserve: they do not back ABSR.
      </Title>
      <Live name="pools" json="/api/dex/pool-default">
        <Pools />
      </Live>
      <p class="fine below">
        When Orca’s API does not respond, the figures are read from the chain. Each pool shows the source and
        time of its figures.
      </p>
    </>
  ),
};

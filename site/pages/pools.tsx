import { Live, type Page, Title } from '../layout.tsx';
import { Pools } from '../parts/pools-live.tsx';

export const pools: Page = {
  path: '/pools',
  title: 'Pools',
  description: 'Prices and depth of the pools around the reserve, with their source and age.',
  script: 'pools',
  Content: () => (
    <>
      <Title name="Pools">
        Prices and depth of the pools around the reserve. When the provider’s API does not respond, the
        figures are read from the chain, and each pool names its source.
      </Title>
      <Live name="pools" json="/api/dex/pool-default">
        <Pools />
      </Live>
      <p class="fine below">
        Coins in pools are not counted in the reserve. They do not back ABSR, the token that counts its sats.
      </p>
    </>
  ),
};

import { NewestTokens } from '../parts/newest-tokens.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';
import { Flow } from '../parts/overview-flow.tsx';
import { Acts, Hero } from '../parts/overview-hero.tsx';
import { RecentEvents } from '../parts/recent-events.tsx';
import { ReserveHistory } from '../parts/reserve-history.tsx';
import { CreationPrice } from '../parts/token-price.tsx';
import { mount } from './mount.tsx';

mount({
  mints: OfficialMints,
  hero: Hero,
  acts: Acts,
  flow: Flow,
  chart: ReserveHistory,
  events: RecentEvents,
  newest: NewestTokens,
  price: CreationPrice,
});

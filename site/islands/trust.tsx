import { OfficialMints } from '../parts/official-mints.tsx';
import { TrustDangers } from '../parts/trust-dangers.tsx';
import { TrustOperator, TrustSources, TrustTiles } from '../parts/trust-facts.tsx';
import { TrustKeys } from '../parts/trust-keys.tsx';
import { mount } from './mount.tsx';

mount({
  facts: TrustTiles,
  dangers: TrustDangers,
  mints: OfficialMints,
  keys: TrustKeys,
  sources: TrustSources,
  operator: TrustOperator,
});

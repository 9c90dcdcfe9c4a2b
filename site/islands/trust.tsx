import { OfficialMints } from '../parts/official-mints.tsx';
import { TrustKeys, TrustOperator, TrustSources, TrustTiles } from '../parts/trust-facts.tsx';
import { mount } from './mount.tsx';

mount({
  facts: TrustTiles,
  mints: OfficialMints,
  keys: TrustKeys,
  sources: TrustSources,
  operator: TrustOperator,
});

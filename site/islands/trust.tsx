import { OfficialMints } from '../parts/official-mints.tsx';
import { TrustKeys, TrustOperator, TrustSources } from '../parts/trust-facts.tsx';
import { mount } from './mount.tsx';

mount({
  mints: OfficialMints,
  keys: TrustKeys,
  sources: TrustSources,
  operator: TrustOperator,
});

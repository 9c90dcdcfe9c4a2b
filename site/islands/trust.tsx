import { OfficialMints } from '../parts/official-mints.tsx';
import { OperatorContact, TrustKeys, TrustSources } from '../parts/trust-facts.tsx';
import { mount } from './mount.tsx';

mount({
  mints: OfficialMints,
  keys: TrustKeys,
  sources: TrustSources,
  contact: OperatorContact,
});

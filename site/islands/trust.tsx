import { AbsrHolders, OfficialMints } from '../parts/official-mints.tsx';
import { TrustClaims } from '../parts/trust-claims.tsx';
import { TrustDangers } from '../parts/trust-dangers.tsx';
import { TrustOperator, TrustSources, TrustTiles } from '../parts/trust-facts.tsx';
import { TrustKeys } from '../parts/trust-keys.tsx';
import { PageCommand } from '../parts/verify-command.tsx';
import { mount } from './mount.tsx';

mount({
  facts: TrustTiles,
  claims: TrustClaims,
  command: PageCommand,
  dangers: TrustDangers,
  mints: OfficialMints,
  holders: AbsrHolders,
  keys: TrustKeys,
  sources: TrustSources,
  operator: TrustOperator,
});

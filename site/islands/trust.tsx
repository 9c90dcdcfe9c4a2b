import { OperatorContact, TrustKeys, TrustSources } from '../parts/trust-facts.tsx';
import { mount } from './mount.tsx';

mount({ keys: TrustKeys, sources: TrustSources, contact: OperatorContact });

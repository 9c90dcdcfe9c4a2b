import { OwnTokens } from '../parts/pool-price.tsx';
import { Pools } from '../parts/pools-live.tsx';
import { mount } from './mount.tsx';

mount({ own: OwnTokens, pools: Pools });

import { Pools } from '../parts/pools-live.tsx';
import { mount } from './mount.tsx';

mount({ pools: Pools });

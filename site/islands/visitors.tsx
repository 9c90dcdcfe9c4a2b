import { Visitors } from '../parts/visitors-live.tsx';
import { mount } from './mount.tsx';

mount({ visitors: Visitors });

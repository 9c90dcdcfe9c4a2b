import { StatusLive } from '../parts/status-live.tsx';
import { mount } from './mount.tsx';

mount({ status: StatusLive });

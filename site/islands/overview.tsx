import { Flow, OverviewChart, RecentEvents, ServiceState } from '../parts/overview-live.tsx';
import { mount } from './mount.tsx';

mount({ flow: Flow, chart: OverviewChart, events: RecentEvents, state: ServiceState });

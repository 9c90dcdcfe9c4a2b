import { Flow } from '../parts/overview-flow.tsx';
import { RecentEvents } from '../parts/recent-events.tsx';
import { OverviewChart } from '../parts/reserve-history.tsx';
import { ServiceState } from '../parts/service-state.tsx';
import { mount } from './mount.tsx';

mount({ flow: Flow, chart: OverviewChart, events: RecentEvents, state: ServiceState });

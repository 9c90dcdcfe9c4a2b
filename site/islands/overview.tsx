import { OverviewChart, OverviewFigures, RecentEvents, ServiceState } from '../parts/overview-live.tsx';
import { mount } from './mount.tsx';

mount({
  figures: OverviewFigures,
  chart: OverviewChart,
  events: RecentEvents,
  state: () => (
    <div class="card">
      <ServiceState />
    </div>
  ),
});

import { render } from 'hono/jsx/dom';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Alerts } from '../parts/alerts.tsx';
import { listenForSearch } from '../parts/open-search.ts';

/** Renders the live parts of a page over their prerendered first state; every page also has its alerts and the search. */
export function mount(islands: Readonly<Record<string, () => JSX.Element | null>>): void {
  for (const [name, Island] of Object.entries({ alerts: Alerts, ...islands })) {
    const place = document.querySelector(`[data-island="${name}"]`);
    if (place instanceof HTMLElement) render(<Island />, place);
  }
  listenForSearch();
}

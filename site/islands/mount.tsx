import { render } from 'hono/jsx/dom';
import type { JSX } from 'hono/jsx/jsx-runtime';

/** Renders the live parts of a page over their prerendered first state. */
export function mount(islands: Readonly<Record<string, () => JSX.Element | null>>): void {
  for (const [name, Island] of Object.entries(islands)) {
    const place = document.querySelector(`[data-island="${name}"]`);
    if (place instanceof HTMLElement) render(<Island />, place);
  }
}

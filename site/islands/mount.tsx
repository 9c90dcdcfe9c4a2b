import { render } from 'hono/jsx/dom';
import type { JSX } from 'hono/jsx/jsx-runtime';

/** Brings the parts of a page to life that were prerendered in their first state. */
export function mount(islands: Readonly<Record<string, () => JSX.Element | null>>): void {
  for (const [name, Island] of Object.entries(islands)) {
    const place = document.querySelector(`[data-island="${name}"]`);
    if (place instanceof HTMLElement) render(<Island />, place);
  }
}

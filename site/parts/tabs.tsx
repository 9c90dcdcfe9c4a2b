import type { Child } from 'hono/jsx';
import { useState } from 'hono/jsx';

export type Tab = { readonly name: string; readonly content: () => Child };

/** One of several texts at a time; the arrow keys switch between the tabs. */
export function Tabs({ id, label, tabs }: { id: string; label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(0);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = (chosen + step + tabs.length) % tabs.length;
    setChosen(next);
    document.getElementById(`${id}-tab-${next}`)?.focus();
  };
  return (
    <div class="stack">
      <div role="tablist" aria-label={label} class="tabs" onKeyDown={move}>
        {tabs.map(({ name }, index) => (
          <button
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === chosen ? 'true' : 'false'}
            aria-controls={`${id}-panel`}
            tabindex={index === chosen ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`} class="stack">
        {tabs[chosen]?.content()}
      </div>
    </div>
  );
}

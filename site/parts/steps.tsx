import type { Child } from 'hono/jsx';

export type Step = {
  readonly name: string;
  readonly state: 'done' | 'now' | 'open' | 'failed';
  readonly detail?: Child;
};

const SAID = { done: 'done', now: 'under way', open: 'to come', failed: 'failed' } as const;

/** Progress of a longer task. */
export const Steps = ({ label, steps }: { label: string; steps: readonly Step[] }) => (
  <ol class="steps" aria-label={label}>
    {steps.map(({ name, state, detail }) => (
      <li class={state} {...(state === 'now' ? { 'aria-current': 'step' as const } : {})}>
        <span class="sign" aria-hidden="true" />
        <span>
          <strong>{name}</strong>
          <span class="unseen">: {SAID[state]}</span>
          {detail ? <span class="detail">{detail}</span> : null}
        </span>
      </li>
    ))}
  </ol>
);

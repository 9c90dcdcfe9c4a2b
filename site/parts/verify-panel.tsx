import type { Child } from 'hono/jsx';
import { CheckList, CheckNote, CheckVerdict, useProofCheck } from './proof-check.tsx';
import { CoverVerdict } from './verdict.tsx';

type VerifyPanelProps = {
  /** Whether a wide screen shows the six checks before they run. */
  readonly isListed?: boolean;
  /** What stands above the verdict. */
  readonly children?: Child;
};

/** Whether the reserve covers the supply, what both keys signed, and the check of that proof. */
export function VerifyPanel({ isListed = false, children }: VerifyPanelProps) {
  const { state, run } = useProofCheck();
  return (
    <section class="verdict-card" aria-label="Reserve and supply">
      {children}
      <CoverVerdict check={state} />
      <div class="row">
        <button type="button" onClick={run} disabled={state.type === 'running'}>
          {state.type === 'done' ? 'Check again' : 'Check it now'}
        </button>
        {state.type === 'idle' ? <CheckNote /> : null}
      </div>
      <details
        class={isListed ? 'more folded' : 'more'}
        open={state.type === 'running' || state.type === 'done'}
      >
        <summary>The six checks</summary>
        <CheckList state={state} />
      </details>
      <div role="status">
        <CheckVerdict state={state} retry={run} />
      </div>
    </section>
  );
}

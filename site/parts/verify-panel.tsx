import { CheckList, CheckNote, CheckVerdict, useProofCheck } from './proof-check.tsx';

/** The check of the newest proof, with every line shown before it runs. */
export function VerifyPanel() {
  const { state, run } = useProofCheck();
  return (
    <div class="card stack verify">
      <div class="row">
        <button type="button" onClick={run} disabled={state.type === 'running'}>
          {state.type === 'done' ? 'Check again' : 'Check it now'}
        </button>
        <CheckNote />
      </div>
      <CheckList state={state} />
      <div role="status">
        <CheckVerdict state={state} retry={run} />
      </div>
    </div>
  );
}

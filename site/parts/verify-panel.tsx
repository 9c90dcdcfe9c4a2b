import type { Child } from 'hono/jsx';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Away, bitcoinAddressUrl, solanaAddressUrl } from './explorer-links.tsx';
import { CheckList, CheckNote, CheckVerdict, useProofCheck } from './proof-check.tsx';
import { CoverVerdict } from './verdict.tsx';

/** Where a visitor reads the same figures with nothing of this site between. */
function OwnSources() {
  const address = useQuery('getReserves', {}, FIGURES_POLL_MS).value?.bitcoin.address ?? null;
  const mint = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS).value?.absrMint ?? null;
  return (
    <p class="own-sources fine">
      Or without this site:{' '}
      {address === null ? null : <Away href={bitcoinAddressUrl(address)}>BTC at mempool.space</Away>}{' '}
      {mint === null ? null : <Away href={solanaAddressUrl(mint)}>supply at Solana Explorer</Away>}{' '}
      <a href="/reserves#terminal">all checks in a terminal</a>
    </p>
  );
}

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
      <OwnSources />
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

import type { Child } from 'hono/jsx';
import { FIGURES_POLL_MS, type Query, useQuery } from '../api/query.ts';
import { bitcoinAddressUrl, OnChain, solanaAddressUrl } from './explorer-links.tsx';
import { CheckList, CheckNote, CheckVerdict, useProofCheck } from './proof-check.tsx';
import { CoverVerdict } from './verdict.tsx';

type SourceProps = {
  /** Undefined while it is awaited: the text is then there without a link, so that the page does not shift. */
  readonly href: string | null | undefined;
  readonly children: Child;
};

const Source = ({ href, children }: SourceProps) =>
  href ? <OnChain href={href}>{children}</OnChain> : href === null ? null : <span>{children}</span>;

const noneOf = ({ value, failure }: Query<unknown>): null | undefined =>
  value === null && failure === null ? undefined : null;

/** Where a visitor reads the same figures with nothing of this site between. */
function OwnSources() {
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const address = reserves.value?.bitcoin.address;
  const mint = summary.value?.absrMint;
  return (
    <p class="own-sources fine">
      Or without this site:{' '}
      <Source href={address ? bitcoinAddressUrl(address) : noneOf(reserves)}>BTC at mempool.space</Source>{' '}
      <Source href={mint ? solanaAddressUrl(mint) : noneOf(summary)}>supply at Solana Explorer</Source>{' '}
      <a href="/reserves#terminal">all checks in a terminal</a>
    </p>
  );
}

type VerifyPanelProps = {
  /** Whether a wide screen shows the six checks before they run. */
  readonly isListed?: boolean;
  /** What stands above the verdict. */
  readonly children?: Child;
  /** A ground of the verdict that only this page has. */
  readonly ground?: Child;
};

/** Whether the reserve covers the supply, what both keys signed, and the check of that proof. */
export function VerifyPanel({ isListed = false, children, ground }: VerifyPanelProps) {
  const { state, run } = useProofCheck();
  return (
    <section class="verdict-card" aria-label="Reserve and supply">
      {children}
      <CoverVerdict check={state}>{ground}</CoverVerdict>
      <div class="row">
        <button type="button" id="check-now" onClick={run} disabled={state.type === 'running'}>
          {state.type === 'done' ? 'Check again' : 'Check it now'}
        </button>
        {state.type === 'idle' ? <CheckNote /> : null}
      </div>
      <OwnSources />
      <div role="status">
        <CheckVerdict state={state} retry={run} />
      </div>
      <details
        class={isListed ? 'more folded' : 'more'}
        open={state.type === 'running' || state.type === 'done'}
      >
        <summary>The six checks</summary>
        <CheckList state={state} />
      </details>
    </section>
  );
}

import type { Failure } from '../api/call.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Identifier } from './copyable.tsx';
import { Away, holdersUrl } from './explorer-links.tsx';
import { OfficialPicture } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

/** A mint that was not read yet is shown differently from a missing one. */
export function MintLine({
  asset,
  mint,
  failure,
}: {
  asset: string;
  /** Undefined until it has been read; null if there is none. */
  mint: string | null | undefined;
  failure: Failure | null;
}) {
  if (mint === null) return <span class="soft">not configured</span>;
  if (mint === undefined)
    return <span class="soft">{failure === null ? 'reading' : 'not known right now'}</span>;
  return (
    <span class="row">
      <Identifier text={mint} label={`${asset} mint`} ends={8} />
      <a href={tokenUrl(mint)}>
        Facts<span class="unseen"> of {asset}</span>
      </a>
      <Away href={holdersUrl(mint)}>
        Holders<span class="unseen"> of {asset}</span>
      </Away>
    </span>
  );
}

/** Who can hold ABSR: the service mints to one address only. */
export const AbsrHolders = () => (
  <p>
    Each new ABSR goes to the operator's treasury, so the operator holds whatever it has not passed on.
    “Holders” shows on Solana Explorer who has how much.
  </p>
);

/** The mints of both tokens of the reserve: no other mint is ABSR or ASRY. */
export function OfficialMints() {
  const { value, failure } = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  return (
    <dl class="facts mints">
      <dt class="row">
        <OfficialPicture asset="ABSR" /> ABSR
      </dt>
      <dd>
        <MintLine asset="ABSR" mint={value?.absrMint} failure={failure} />
      </dd>
      <dt class="row">
        <OfficialPicture asset="ASRY" /> ASRY
      </dt>
      <dd>
        <MintLine asset="ASRY" mint={value?.asryMint} failure={failure} />
      </dd>
    </dl>
  );
}

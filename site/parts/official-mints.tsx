import type { Reserves } from '../../packages/client/src/index.ts';
import { formatAmount } from '../../src/core/amount.ts';
import type { Failure } from '../api/call.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Identifier } from './copyable.tsx';
import { holdersUrl, OnChain } from './explorer-links.tsx';
import { units } from './format.ts';
import { AsOf } from './freshness.tsx';
import { OfficialPicture } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

/** A mint that has not been read yet is shown differently from a missing one. */
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
    return <span class="soft">{failure === null ? 'reading' : 'not known at the moment'}</span>;
  return (
    <span class="row">
      <Identifier text={mint} label={`${asset} mint`} ends={8} />
      <a href={tokenUrl(mint)}>
        Facts<span class="unseen"> of {asset}</span>
      </a>
      <OnChain href={holdersUrl(mint)}>
        Holders<span class="unseen"> of {asset}</span>
      </OnChain>
    </span>
  );
}

type HeldAbsr = NonNullable<Reserves['solana']['absr']>;

/** A share in percent with one digit, rounded down: 99.96 % is not all. */
function shareText(part: bigint, whole: bigint): string {
  const tenths = (part * 1000n) / whole;
  return part > 0n && tenths === 0n ? 'less than 0.1 %' : `${formatAmount(tenths, 1)} %`;
}

/** `5 of 9 ABSR (55.5 %)`, and what is elsewhere. */
export function splitText({ treasuryAtoms, supplyAtoms, decimals }: HeldAbsr): string {
  const [held, supply] = [BigInt(treasuryAtoms), BigInt(supplyAtoms)];
  if (supply === 0n) return 'No ABSR exists yet.';
  const amount = (atoms: bigint): string => units(atoms.toString(), decimals);
  return `In the operator's treasury: ${amount(held)} of ${amount(supply)} ABSR (${shareText(held, supply)}); with others: ${amount(supply - held)}.`;
}

/** How much ABSR the operator holds, as the chain shows it, and where a holder sees their own. */
export function AbsrHolders() {
  const { value, failure } = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const { absr = null, as_of: at = null, stale = false } = value?.solana ?? {};
  const isAwaited = value === null && failure === null;
  return (
    <div class="stack">
      <p>
        {isAwaited ? (
          <span class="skeleton" aria-hidden="true" />
        ) : (
          <strong class="number">
            {absr === null ? 'How much ABSR the treasury holds is not known.' : splitText(absr)}
          </strong>
        )}{' '}
        “Others” may be the operator too: the chain shows addresses, not persons.
      </p>
      <p>
        You hold ABSR? Your wallet or an explorer shows it. 1 ABSR counts 1 sat, and is a claim on nothing.
      </p>
      <AsOf at={at} stale={stale} away={failure !== null} />
    </div>
  );
}

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

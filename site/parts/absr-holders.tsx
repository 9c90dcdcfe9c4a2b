import type { Reserves } from '../../packages/client/src/index.ts';
import { formatAmount } from '../../src/core/amount.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { units } from './format.ts';
import { AsOf } from './freshness.tsx';

type Held = NonNullable<Reserves['solana']['absr']>;

/** A share in percent with one digit, rounded down: 99.96 % is not all. */
function shareText(part: bigint, whole: bigint): string {
  const tenths = (part * 1000n) / whole;
  return part > 0n && tenths === 0n ? 'less than 0.1 %' : `${formatAmount(tenths, 1)} %`;
}

/** `5 of 9 ABSR (55.5 %)`, and what is elsewhere. */
export function splitText({ treasuryAtoms, supplyAtoms, decimals }: Held): string {
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
            {absr === null ? 'How much ABSR the treasury holds is unknown right now.' : splitText(absr)}
          </strong>
        )}{' '}
        Each new ABSR goes to the treasury. “Others” may be the operator too: the chain shows addresses, not
        persons.
      </p>
      <p>You hold ABSR? Your wallet shows it. 1 ABSR counts 1 sat, and is a claim on nothing.</p>
      <AsOf at={at} stale={stale} away={failure !== null} />
    </div>
  );
}

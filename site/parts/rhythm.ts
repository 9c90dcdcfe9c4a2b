/**
 * How often the reserve is signed and ABSR is minted, and what waits for the next mint. All pages take these words from
 * here.
 * @module
 */
import type { Minter } from '../../src/chain/solana/mint-keys.ts';
import { PROOF_EVERY_MS } from '../../src/core/durations.ts';
import { amountOf } from './format.ts';

/** @param isOffline whether the operator signs outside the service; null while it is not known */
export function proofRhythm(isOffline: boolean | null): string {
  if (isOffline === null) return 'at times that are not known at the moment';
  return isOffline
    ? 'when the operator signs offline'
    : `every ${PROOF_EVERY_MS / 60_000} minutes and after each mint`;
}

/** The comparison of reserve and supply. */
type Gap = { readonly state: string; readonly gapSatoshis: string | null };

/** The confirmed sats without an ABSR; empty if there are none, or if it is not known. */
export function waitingText({ state, gapSatoshis: gap }: Gap): string {
  if (state !== 'covered' || gap === null || gap === '0') return '';
  return `${amountOf(gap, 'sat')} ${gap === '1' ? 'waits' : 'wait'} for the next mint.`;
}

/**
 * @param minter who can mint ABSR; null while it is not known
 * @param gap null while it is not known
 */
export function mintRhythm(minter: Minter | null, gap: Gap | null): string {
  switch (minter) {
    case null:
      return '';
    case 'nobody':
      return 'ABSR can no longer be minted.';
    case 'other':
      return 'This service does not mint ABSR: another authority can.';
    default:
      return `One for each confirmed sat, minted once a day. ${gap === null ? '' : waitingText(gap)}`;
  }
}

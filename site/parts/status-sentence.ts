/**
 * The state of the service in one or two sentences. Pure.
 * @module
 */
import type { Reserves, Status } from '../../packages/client/src/index.ts';
import { explorersDiffer } from './coverage.tsx';
import { count } from './format.ts';

export function sourcesText({ upstreams }: Pick<Status, 'upstreams'>): string {
  const down = upstreams.filter(({ ok }) => !ok).length;
  if (upstreams.length === 0) return 'No source is configured.';
  if (down === 0)
    return upstreams.length === 1
      ? 'The only source responds.'
      : `All ${count(upstreams.length)} sources respond.`;
  return `${count(down)} of ${count(upstreams.length)} sources ${down === 1 ? 'is' : 'are'} down.`;
}

function reserveText({ backing: { state } }: Pick<Status, 'backing'>): string {
  switch (state) {
    case 'covered':
      return 'The reserve is covered';
    case 'no_token':
      return 'No ABSR mint is configured';
    case 'short':
      return 'The reserve does NOT cover all ABSR';
    default:
      return 'Whether the reserve covers all ABSR is not known';
  }
}

/** The state is never good while an alarm is open, the alarms cannot be read, or the Bitcoin explorers differ. */
export function statusKind(
  { ok, alarms, backing }: Pick<Status, 'ok' | 'alarms' | 'backing'>,
  bitcoin: Reserves['bitcoin'] | null,
): 'good' | 'warn' | 'bad' {
  if (backing.state === 'short') return 'bad';
  return ok && alarms?.length === 0 && !explorersDiffer(bitcoin) ? 'good' : 'warn';
}

export function swapsText(custody: Status['custody']): string {
  if (custody === null) return 'unknown';
  return custody.frozen ? 'frozen' : custody.paused ? 'paused' : custody.swapsRefused ? 'refused' : 'open';
}

/** `2 of 12 sources are down. The reserve is covered, swaps are open.` */
export const statusSentence = (status: Pick<Status, 'upstreams' | 'backing' | 'custody'>): string => {
  const swaps = swapsText(status.custody);
  const state = swaps === 'unknown' ? 'the state of swaps is not known' : `swaps are ${swaps}`;
  return `${sourcesText(status)} ${reserveText(status)}, ${state}.`;
};

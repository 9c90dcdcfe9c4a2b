/**
 * The state of the service in one or two sentences. Pure.
 * @module
 */
import type { Status } from '../../packages/client/src/index.ts';
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

/** A gap that cannot be read is unknown, never covered. */
function reserveText({ backing: { ok, gapSatoshis } }: Pick<Status, 'backing'>): string {
  if (gapSatoshis === null) return 'Whether the reserve covers all ABSR is not known';
  return ok ? 'The reserve is covered' : 'The reserve does NOT cover all ABSR';
}

export function swapsText(custody: Status['custody']): string {
  if (custody === null) return 'unknown';
  return custody.frozen ? 'frozen' : custody.paused ? 'paused' : 'open';
}

/** `2 of 12 sources are down. The reserve is covered, swaps are open.` */
export const statusSentence = (status: Pick<Status, 'upstreams' | 'backing' | 'custody'>): string => {
  const swaps = swapsText(status.custody);
  const state = swaps === 'unknown' ? 'the state of swaps is not known' : `swaps are ${swaps}`;
  return `${sourcesText(status)} ${reserveText(status)}, ${state}.`;
};

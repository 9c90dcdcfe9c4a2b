import type { Failure } from '../api/call.ts';
import { useNow } from './clock.ts';
import { ago, instant } from './format.ts';

export const Moment = ({ iso }: { iso: string }) => <time dateTime={iso}>{instant(iso)}</time>;

/** Age as text; the exact time on hover, and for a reader without scripts. */
export function Age({ iso }: { iso: string }) {
  const now = useNow(1000);
  return (
    <time dateTime={iso} title={instant(iso)}>
      {typeof document === 'undefined' ? instant(iso) : ago(Date.parse(iso), now ?? Date.now())}
    </time>
  );
}

/** When the figures were read, and whether they are older than usual. */
export function AsOf({
  at,
  stale = false,
  away = false,
}: {
  at: string | null;
  stale?: boolean;
  away?: boolean;
}) {
  // An empty line reserves the space of the text, so that the page does not shift.
  if (at === null) return <p class="as-of" />;
  return (
    <p class="as-of">
      {stale || away ? <span class="mark warn">{away ? 'not refreshed' : 'stale'}</span> : null}
      <span>
        Updated <Age iso={at} />
      </span>
      {stale ? <span> A source is down, so this is the last good value.</span> : null}
      {away ? <span> The service does not respond.</span> : null}
    </p>
  );
}

type Aged = {
  readonly value: { readonly as_of: string | null; readonly stale: boolean } | null;
  readonly failure: Failure | null;
};

/** Combined figures are as old as the oldest of them. */
export function together(...answers: Aged[]): { at: string | null; stale: boolean; away: boolean } {
  const times = answers.flatMap(({ value }) => value?.as_of ?? []).sort();
  return {
    at: times[0] ?? null,
    stale: answers.some(({ value }) => value?.stale === true),
    away: answers.some(({ failure }) => failure !== null),
  };
}

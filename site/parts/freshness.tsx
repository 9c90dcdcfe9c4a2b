import { useNow } from './clock.ts';
import { ago, instant } from './format.ts';

export const Moment = ({ iso }: { iso: string }) => <time dateTime={iso}>{instant(iso)}</time>;

/** When figures were read, and that they are older than they should be. */
export function AsOf({
  at,
  stale = false,
  away = false,
}: {
  at: string | null;
  stale?: boolean;
  away?: boolean;
}) {
  const now = useNow(5000);
  // The line keeps its place: what comes in must not push the page about.
  if (at === null) return <p class="as-of" />;
  return (
    <p class="as-of">
      {stale || away ? <span class="mark warn">{away ? 'not refreshed' : 'stale'}</span> : null}
      <span>
        As of <Moment iso={at} />
        {now === null ? '' : `, ${ago(Date.parse(at), now)}`}
      </span>
      {stale ? <span> A source is down, so this is the last good value.</span> : null}
      {away ? <span> The service does not answer now.</span> : null}
    </p>
  );
}

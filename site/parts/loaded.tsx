import type { Child } from 'hono/jsx';
import type { Query } from '../api/query.ts';
import { AsOf } from './freshness.tsx';
import { Failed, Unavailable, Waiting } from './notice.tsx';

type Dated = { readonly as_of?: string | null; readonly stale?: boolean };

/**
 * What a part of a page shows of a read: a waiting text, its failure, or its value with the value's age. An outage
 * of the service is reported once at the top of the page, so the part itself only shows that it has no value.
 */
export function Loaded<T extends object>({
  query: { value, failure, refresh },
  waiting,
  show,
  card = false,
  hasAge = true,
}: {
  query: Query<T>;
  /** The sentence shown before the first response. */
  waiting: string;
  show: (value: T) => Child;
  /** Whether the waiting text stands in a card of its own. */
  card?: boolean;
  /** Whether the age stands below the value. */
  hasAge?: boolean;
}) {
  if (value !== null) {
    const { as_of: at = null, stale = false }: Dated = value;
    return (
      <>
        {show(value)}
        {hasAge && 'as_of' in value ? <AsOf at={at} stale={stale} away={failure !== null} /> : null}
      </>
    );
  }
  if (failure === null) {
    const text = <Waiting what={waiting} />;
    return card ? <div class="card">{text}</div> : text;
  }
  return failure.isOutage ? <Unavailable failure={failure} /> : <Failed failure={failure} retry={refresh} />;
}

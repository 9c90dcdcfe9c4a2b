import type { Child } from 'hono/jsx';
import { useEffect, useState } from 'hono/jsx';
import type { Failure } from '../api/call.ts';

/** Usual duration of a read of the service. */
const USUAL_SECONDS = 1;

/**
 * A waiting text; it adds a line once the wait is longer than usual.
 *
 * @param usualSeconds null without a usual duration, such as waiting for a payment
 */
export function Waiting({
  what,
  usualSeconds = USUAL_SECONDS,
}: {
  what: string;
  usualSeconds?: number | null;
}) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    if (usualSeconds === null) return;
    const timer = setTimeout(() => setSlow(true), usualSeconds * 1000);
    return () => clearTimeout(timer);
  }, [usualSeconds]);
  return (
    <p class="waiting" role="status">
      <span class="bar" aria-hidden="true" />
      {slow ? `${what} This is taking longer than usual.` : what}
    </p>
  );
}

/** A failure as text, with the next step; nothing without one. */
export function Failed({ failure, retry }: { failure: Failure | null; retry?: () => void }) {
  if (failure === null) return null;
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{failure.text}</strong>
      </p>
      <p>{failure.next}</p>
      <p class="fine">
        <code>{failure.code}</code>
        {failure.requestId === null ? null : (
          <span>
            {' '}
            · request <code>{failure.requestId}</code>
          </span>
        )}
      </p>
      {retry === undefined ? null : (
        <button type="button" class="quiet" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** In place of figures: that a source failed, unless the page says that the service was not reached. */
export const Unavailable = ({ failure: { text, requestId } }: { failure: Failure }) => (
  <p class="empty">
    Not available right now.
    {requestId === null ? null : (
      <>
        {' '}
        {text} <a href="/status">Which one</a>
      </>
    )}
  </p>
);

export const Notice = ({
  kind,
  title,
  children,
}: {
  kind: 'info' | 'warn' | 'good';
  title?: string;
  children?: Child;
}) => (
  <div class={`notice ${kind}`}>
    {title === undefined ? null : (
      <p>
        <strong>{title}</strong>
      </p>
    )}
    {children}
  </div>
);

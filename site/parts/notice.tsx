import type { Child } from 'hono/jsx';
import { useEffect, useState } from 'hono/jsx';
import type { Failure } from '../api/call.ts';

const SLOW_MS = 1000;

/** What is awaited; says more once it takes long. */
export function Waiting({ what }: { what: string }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="waiting" role="status">
      <span class="bar" aria-hidden="true" />
      {slow ? `${what} This takes longer than usual.` : what}
    </p>
  );
}

/** A failure in words, with the next step. */
export function Failed({ failure, retry }: { failure: Failure; retry?: () => void }) {
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

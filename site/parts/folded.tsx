import type { Child } from 'hono/jsx';
import { useIsPhone } from './phone.ts';

/** A long list: one line to open on a phone, shown at once on a wider screen. */
export const Folded = ({ summary, children }: { summary: string; children?: Child }) =>
  useIsPhone() ? (
    <details>
      <summary>{summary}</summary>
      {children}
    </details>
  ) : (
    <div>{children}</div>
  );

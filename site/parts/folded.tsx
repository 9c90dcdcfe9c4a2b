import type { Child } from 'hono/jsx';

/** A long part of a page: one line to open on a phone, shown at once on a wider screen. The style sheet decides. */
export const Folded = ({ summary, children }: { summary: string; children?: Child }) => (
  <details class="folded">
    <summary>{summary}</summary>
    {children}
  </details>
);

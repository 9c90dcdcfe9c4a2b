import type { Child } from 'hono/jsx';

/**
 * One figure with its unit. A loading value reserves its space; null is shown as `unknown`, never as zero.
 */
export const Tile = ({
  name,
  value,
  unit,
  children,
}: {
  name: string;
  value: Child | null | undefined;
  unit?: string;
  children?: Child;
}) => (
  <div class="tile">
    <span class="name">{name}</span>
    <span class="value">
      {value === undefined ? <span class="skeleton" aria-hidden="true" /> : (value ?? 'unknown')}
      {unit === undefined || value === undefined || value === null ? null : <span class="unit"> {unit}</span>}
    </span>
    <span class="note">{children}</span>
  </div>
);

import type { Child } from 'hono/jsx';

export type Column = { readonly name: string; readonly right?: boolean };
export type Row = readonly Child[];

/** Rows and columns; on a phone each row becomes a block. The first cell of a row is its name. */
export const Table = ({
  label,
  columns,
  rows,
  empty,
  isProse = false,
}: {
  label: string;
  columns: readonly Column[];
  rows: readonly Row[];
  /** Shown when there is no row. */
  empty: string;
  /** Cells are sentences: on a phone they begin at the left. */
  isProse?: boolean;
}) =>
  rows.length === 0 ? (
    <p class="card empty">{empty}</p>
  ) : (
    <section class={isProse ? 'scroll prose-cells' : 'scroll'} tabindex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, right }) => (
              <th scope="col" class={right ? 'right' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell, index) =>
                index === 0 ? (
                  <th scope="row" class={columns[index]?.right ? 'right number' : ''}>
                    {cell}
                  </th>
                ) : (
                  <td data-column={columns[index]?.name} class={columns[index]?.right ? 'right number' : ''}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );

/** A long part of a page: one line to open on a phone, shown at once on a wider screen. The style sheet decides. */
export const Folded = ({ summary, children }: { summary: string; children?: Child }) => (
  <details class="folded">
    <summary>{summary}</summary>
    {children}
  </details>
);

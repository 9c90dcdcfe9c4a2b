import { Rolling } from './rolling.tsx';

/** Characters of a figure that fit its place in large type. */
const LONG = 12;

/** A live amount in large type with its unit. */
export const Figure = ({
  asset,
  name,
  atoms,
  known,
  unit,
  show,
  children,
}: {
  asset: 'sol' | 'btc' | 'absr';
  name: string;
  atoms: string | null | undefined;
  /** Whether the service has responded: a missing value is then unknown, otherwise still loading. */
  known: boolean;
  unit: string;
  show: (atoms: string) => string;
  children?: unknown;
}) => (
  <div class={`figure ${asset}`}>
    <span class="name">
      <span class={`dot ${asset}`} aria-hidden="true" />
      {name}
    </span>
    <span class={`value number${atoms && show(atoms).length > LONG ? ' long' : ''}`}>
      {atoms ? (
        <>
          <Rolling atoms={BigInt(atoms)} show={show} />
          <span class="unit"> {unit}</span>
        </>
      ) : known ? (
        'unknown'
      ) : (
        <span class="skeleton" aria-hidden="true" />
      )}
    </span>
    <span class="note">{children}</span>
  </div>
);

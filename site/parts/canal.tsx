/**
 * The picture of the service: three basins and two gates. The levels of SOL, BTC and ABSR share one scale in
 * sats.
 * @module
 */

export type CanalView = {
  /** Share of the tallest level, 0 to 1; null while unknown. */
  readonly levels: { readonly sol: number | null; readonly btc: number | null; readonly absr: number | null };
  /** Water flows under an open gate. */
  readonly swapping: boolean;
  readonly minting: boolean;
};

const FLOOR = 240;
const TALLEST = 176;
const LOWEST = 10;
/** Level drawn while the real one is unknown. */
const UNKNOWN = 0.45;

const surface = (level: number | null): number => FLOOR - LOWEST - (TALLEST - LOWEST) * (level ?? UNKNOWN);

/** One wave is 100 wide; two more than the basin shows let it move without a seam. */
const WAVE = `M-100 0${'q25-7 50 0t50 0'.repeat(6)}V260H-100z`;

const Basin = ({ asset, x, level }: { asset: 'sol' | 'btc' | 'absr'; x: number; level: number | null }) => (
  <svg
    x={x}
    y="0"
    width="400"
    height={FLOOR}
    viewBox={`0 0 400 ${FLOOR}`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <g class="level" transform={`translate(0 ${surface(level)})`}>
      <path class={`water deep ${asset}`} d={WAVE} transform="translate(-40 -5)" />
      <path class={`water ${asset}${level === null ? ' unknown' : ''}`} d={WAVE} />
    </g>
  </svg>
);

const Gate = ({ x, open }: { x: number; open: boolean }) => (
  <g class={open ? 'gate open' : 'gate'}>
    {open ? <path class="stream" d={`M${x - 70} 226H${x + 70}`} /> : null}
    <rect class="slab" x={x - 5} y="34" width="10" height="206" />
    <rect class="pillar" x={x - 16} y="18" width="5" height="222" />
    <rect class="pillar" x={x + 11} y="18" width="5" height="222" />
    <rect class="pillar" x={x - 22} y="12" width="44" height="7" />
  </g>
);

export const Canal = ({ view }: { view: CanalView }) => {
  const { levels } = view;
  const absr = surface(levels.absr);
  return (
    <svg class="canal" viewBox={`0 0 1200 ${FLOOR + 6}`} preserveAspectRatio="none" aria-hidden="true">
      <Basin asset="sol" x={0} level={levels.sol} />
      <Basin asset="btc" x={400} level={levels.btc} />
      <Basin asset="absr" x={800} level={levels.absr} />
      {levels.absr === null || levels.btc === null ? null : (
        <path class="mark-level" d={`M420 ${absr}H790`} />
      )}
      <Gate x={400} open={view.swapping} />
      <Gate x={800} open={view.minting} />
      <rect class="floor" x="0" y={FLOOR} width="1200" height="6" />
    </svg>
  );
};

/**
 * The picture of the service: basins of water, one per asset, with a gate between two of them.
 * @module
 */

type Water = 'sol' | 'btc' | 'absr';

export type CanalView = {
  /**
   * Share of the tallest level, 0 to 1; null while unknown, which is drawn without water, like 0: the figure below tells
   * them apart. The three levels share one scale, which counts sats from zero.
   */
  readonly levels: { readonly sol: number | null; readonly btc: number | null; readonly absr: number | null };
  /** Water flows under an open gate. */
  readonly swapping: boolean;
  readonly minting: boolean;
};

const BASIN = 400;
const FLOOR = 240;
const HEIGHT = FLOOR + 6;
const TALLEST = 176;

const surface = (level: number): number => FLOOR - TALLEST * level;

/** Two waves more than are visible, each 100 wide, let the water move without a seam. */
const wave = (width: number): string => `M-100 0${'q25-7 50 0t50 0'.repeat(width / 100 + 2)}V${HEIGHT}H-100z`;

const Basin = ({
  water,
  x,
  width = BASIN,
  level,
}: {
  water: Water;
  x: number;
  width?: number;
  level: number | null;
}) => (
  <svg
    x={x}
    y="0"
    width={width}
    height={FLOOR}
    viewBox={`0 0 ${width} ${FLOOR}`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    {level ? (
      <g class="level" transform={`translate(0 ${surface(level)})`}>
        <path class={`water deep ${water}`} d={wave(width)} transform="translate(-40 -5)" />
        <path class={`water ${water}`} d={wave(width)} />
      </g>
    ) : null}
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

/** How far the outer basins continue beyond the column of text, to the edges of the widest screen. */
const BEYOND = 1200;

export const Canal = ({ view }: { view: CanalView }) => {
  const { levels } = view;
  return (
    <svg class="canal" viewBox={`0 0 ${3 * BASIN} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <Basin water="sol" x={-BEYOND} width={BEYOND + BASIN} level={levels.sol} />
      <Basin water="btc" x={BASIN} level={levels.btc} />
      <Basin water="absr" x={2 * BASIN} width={BASIN + BEYOND} level={levels.absr} />
      {levels.absr === null || levels.btc === null ? null : (
        <path class="mark-level" d={`M420 ${surface(levels.absr)}H790`} />
      )}
      <Gate x={BASIN} open={view.swapping} />
      <Gate x={2 * BASIN} open={view.minting} />
      <rect class="floor" x={-BEYOND} y={FLOOR} width={3 * BASIN + 2 * BEYOND} height="6" />
    </svg>
  );
};

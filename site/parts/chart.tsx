import { useEffect, useRef, useState } from 'hono/jsx';
import { Table } from './table.tsx';
import { numberTicks, type TimeTick, timeTicks } from './ticks.ts';

export type Line = {
  readonly name: string;
  /** Its colour; the second line is dashed as well. */
  readonly asset: 'sol' | 'btc' | 'absr' | 'asry';
  readonly values: readonly (number | null)[];
};

export type ChartProps = {
  /** Text alternative of the picture. */
  readonly title: string;
  /** Unix seconds for times, else any ascending numbers. */
  readonly x: readonly number[];
  readonly xIs: 'time' | 'number';
  readonly xName: string;
  readonly lines: readonly [Line] | readonly [Line, Line];
  /** Format of a value in the table and on the axis. */
  readonly show: (value: number) => string;
  readonly showX: (value: number) => string;
  readonly stepped?: boolean;
  /** Whether the axis covers only the range of the values, so that small changes are seen. */
  readonly isZoomed?: boolean;
  /** What the last point is, before its time in the legend. */
  readonly present?: string;
  /** What one point means. */
  readonly note?: string;
  /** A vertical line at the present value. */
  readonly markX?: { readonly at: number; readonly name: string };
};

const HEIGHT = 208;
const TOP = 16;
const BOTTOM = 40;
const RIGHT = 12;
/** Width of a digit on the axis, and the smallest distance between two labels. */
const DIGIT = 7.2;
const LABEL_SPACE = 84;
const ROW_SPACE = 36;
/** Share of the value that is kept free above and below a flat line. */
const FLAT_ROOM = 0.001;
/** A run of at most this many points shows each of them. */
const FEW = 12;
/** Width until the element's own is known. */
const USUAL_WIDTH = 640;

/** Converts a value between `from` and `to` to a position in pixels. */
const scale = (from: number, to: number, start: number, end: number) => (value: number) =>
  to === from ? (start + end) / 2 : start + ((value - from) / (to - from)) * (end - start);

type Place = (value: number) => number;
type Point = readonly [x: number, y: number];

/** Runs of points without a gap. */
function runsOf(x: readonly number[], values: readonly (number | null)[], atX: Place, atY: Place): Point[][] {
  const runs: Point[][] = [[]];
  x.forEach((value, index) => {
    const y = values[index];
    if (y === null || y === undefined) runs.push([]);
    else runs.at(-1)?.push([atX(value), atY(y)]);
  });
  return runs.filter((run) => run.length > 0);
}

function pathOf(run: readonly Point[], stepped: boolean): string {
  return run
    .map(([x, y], index) => {
      if (index === 0) return `M${x} ${y}`;
      return stepped ? `H${x}V${y}` : `L${x} ${y}`;
    })
    .join('');
}

/** A closed area from a run of points down to the axis. */
const areaOf = (run: readonly Point[], stepped: boolean, floor: number): string =>
  `${pathOf(run, stepped)}V${floor}H${run[0]?.[0] ?? 0}Z`;

/** The index of the value that is closest. */
function nearest(values: readonly number[], wanted: number): number {
  const distances = values.map((value) => Math.abs(value - wanted));
  return distances.indexOf(Math.min(...distances));
}

/** The present width of an element, even after it has changed. */
function useWidth() {
  const place = useRef<HTMLDivElement | null>(null);
  const [width, setWidth] = useState(USUAL_WIDTH);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const resized = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return { place, width };
}

/** A label at the right edge must not end beyond it. */
const anchorOf = (x: number, width: number): 'middle' | 'end' =>
  x > width - LABEL_SPACE / 2 ? 'end' : 'middle';

function Axes({
  scales: { values, times, atX, atY, left, width },
  show,
}: {
  scales: Scales;
  show: (value: number) => string;
}) {
  return (
    <>
      {values.map((value) => (
        <>
          <path class="grid" d={`M${left} ${atY(value)}H${width - RIGHT}`} />
          <text class="tick" x={left - 8} y={atY(value) + 4} text-anchor="end">
            {show(value)}
          </text>
        </>
      ))}
      {times.map(({ at, label, date }) => (
        <>
          <text class="tick" x={atX(at)} y={HEIGHT - BOTTOM + 18} text-anchor={anchorOf(atX(at), width)}>
            {label}
          </text>
          {date === null ? null : (
            <text class="tick" x={atX(at)} y={HEIGHT - BOTTOM + 34} text-anchor={anchorOf(atX(at), width)}>
              {date}
            </text>
          )}
        </>
      ))}
    </>
  );
}

type Scales = {
  readonly width: number;
  readonly left: number;
  readonly atX: Place;
  readonly atY: Place;
  /** The value at the lower edge of the areas; null on a scale without zero, where an area would mislead. */
  readonly floor: number | null;
  readonly values: readonly number[];
  readonly times: readonly TimeTick[];
};

/** The least and greatest value of the axis. A flat line is in the middle of a narrow range around its value. */
function rangeOf(all: readonly number[], isZoomed: boolean): readonly [from: number, to: number] {
  if (all.length === 0) return [0, 1];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  if (!isZoomed) return [Math.min(0, least * 1.1), Math.max(1, most * 1.1)];
  const room = Math.max((most - least) * 0.15, most * FLAT_ROOM, 1);
  return [Math.max(0, least - room), most + room];
}

function scalesOf({ x, xIs, lines, show, showX, isZoomed = false }: ChartProps, width: number): Scales {
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const [low, high] = rangeOf(all, isZoomed);
  const values = numberTicks(low, high, Math.floor((HEIGHT - TOP - BOTTOM) / ROW_SPACE));
  const left = Math.max(...values.map((value) => show(value).length)) * DIGIT + 16;
  const [from = 0, to = from] = [x[0], x.at(-1)];
  const parts = Math.max(2, Math.floor((width - left) / LABEL_SPACE));
  return {
    width,
    left,
    atX: scale(from, to, left + 4, width - RIGHT),
    atY: scale(low, high, HEIGHT - BOTTOM, TOP),
    floor: low > 0 ? null : 0,
    values,
    times:
      xIs === 'time'
        ? timeTicks(from, to, parts)
        : numberTicks(from, to, parts).map((at) => ({ at, label: showX(at), date: null })),
  };
}

const Strokes = ({ chart: { x, lines, stepped = false }, scales }: { chart: ChartProps; scales: Scales }) => {
  const { atX, atY, floor } = scales;
  return (
    <>
      {lines.map((line, index) => (
        <g class={`line ${line.asset}`}>
          {runsOf(x, line.values, atX, atY).map((run) => (
            <>
              {index > 0 || floor === null ? null : (
                <path class="area" d={areaOf(run, stepped, atY(floor))} />
              )}
              <path class={index === 0 ? 'stroke' : 'stroke dashed'} d={pathOf(run, stepped)} />
              {run.length > FEW ? null : run.map(([cx, cy]) => <circle cx={cx} cy={cy} r="4" />)}
            </>
          ))}
        </g>
      ))}
    </>
  );
};

/** The vertical line through the values that are pointed at. */
const Pointed = ({
  chart: { x, lines },
  scales: { atX, atY },
  at,
}: {
  chart: ChartProps;
  scales: Scales;
  at: number | null;
}) => {
  const shownX = at === null ? undefined : x[at];
  if (at === null || shownX === undefined) return null;
  return (
    <>
      <path class="pointed" d={`M${atX(shownX)} ${TOP}V${HEIGHT - BOTTOM}`} />
      {lines.map((line) => {
        const value = line.values[at];
        return value === null || value === undefined ? null : (
          <circle class={`line ${line.asset}`} cx={atX(shownX)} cy={atY(value)} r="4" />
        );
      })}
    </>
  );
};

const MarkedX = ({ markX, atX }: { markX: NonNullable<ChartProps['markX']>; atX: Place }) => (
  <>
    <path class="mark-line" d={`M${atX(markX.at)} ${TOP}V${HEIGHT - BOTTOM}`} />
    <text class="mark-name" x={atX(markX.at) + 6} y={TOP + 12}>
      {markX.name}
    </text>
  </>
);

function valueText({ show }: ChartProps, { values }: Line, at: number): string {
  const value = values[at];
  return value === null || value === undefined ? 'none' : show(value);
}

type LegendProps = {
  readonly chart: ChartProps;
  /** Null unless the visitor points at a value. */
  readonly pointed: number | null;
  readonly present: number;
};

/** The name of each line with its value at one place, and that place on the x axis. */
const Legend = ({ chart, pointed, present }: LegendProps) => {
  const at = Math.min(pointed ?? present, chart.x.length - 1);
  const shownX = chart.x[at];
  return (
    <figcaption class="legend">
      {chart.lines.map((line, index) => (
        <span>
          <span class={`key ${line.asset}${index === 0 ? '' : ' dashed'}`} aria-hidden="true" />
          {line.name} <strong class="number">{valueText(chart, line, at)}</strong>
        </span>
      ))}
      <span class="number">
        {pointed === null ? chart.present : ''}
        {shownX === undefined ? '' : chart.showX(shownX)}
      </span>
    </figcaption>
  );
};

const ChartTable = ({ chart }: { chart: ChartProps }) => (
  <details>
    <summary>As a table</summary>
    <Table
      label={`${chart.title}, as a table`}
      columns={[{ name: chart.xName }, ...chart.lines.map(({ name }) => ({ name, right: true }))]}
      rows={chart.x.map((at, row) => [
        chart.showX(at),
        ...chart.lines.map((line) => valueText(chart, line, row)),
      ])}
      empty="No figures yet."
    />
  </details>
);

/** Lines as a picture, the values under the pointer or finger as text, and all figures as a table. */
export function Chart(chart: ChartProps) {
  const { title, x, show, markX, note } = chart;
  const { place, width } = useWidth();
  const [pointed, setPointed] = useState<number | null>(null);
  const scales = scalesOf(chart, width);
  const { atX } = scales;
  // Until the visitor points at a value, the marked value is shown, or the last if none is marked.
  const present = markX === undefined ? x.length - 1 : nearest(x, markX.at);
  const point = (event: PointerEvent): void => {
    const box = place.current?.getBoundingClientRect();
    if (box === undefined) return;
    setPointed(nearest(x.map(atX), event.clientX - box.left));
  };
  return (
    <figure class="chart awaited">
      <Legend chart={chart} pointed={pointed} present={present} />
      <div
        class="plot"
        ref={place}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={({ pointerType }: PointerEvent) => pointerType === 'mouse' && setPointed(null)}
      >
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          height={HEIGHT}
          role="img"
          aria-label={`${title}. The same figures are in the table below.`}
        >
          <Axes scales={scales} show={show} />
          <Strokes chart={chart} scales={scales} />
          {markX === undefined ? null : <MarkedX markX={markX} atX={atX} />}
          <Pointed chart={chart} scales={scales} at={pointed} />
        </svg>
      </div>
      {note === undefined && scales.floor !== null ? null : (
        <p class="fine">
          {note} {scales.floor === null ? 'The scale does not begin at zero.' : ''}
        </p>
      )}
      <ChartTable chart={chart} />
    </figure>
  );
}

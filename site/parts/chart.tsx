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
  /** A vertical line at the present value. */
  readonly markX?: { readonly at: number; readonly name: string };
};

const HEIGHT = 260;
const TOP = 16;
const BOTTOM = 40;
const RIGHT = 12;
/** Width of a digit of the axis, and the least distance of two labels. */
const DIGIT = 7.2;
const LABEL_SPACE = 84;
const ROW_SPACE = 36;
/** Width until the element's own is known. */
const USUAL_WIDTH = 640;

/** The part of a data range as a position in pixels. */
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

/** The width of an element, also after it has changed. */
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
  values,
  times,
  show,
  atX,
  atY,
  left,
  width,
}: {
  values: readonly number[];
  times: readonly TimeTick[];
  show: (value: number) => string;
  atX: Place;
  atY: Place;
  left: number;
  width: number;
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

/** Lines as a picture, the values under the pointer or finger as text, and all figures as a table. */
export function Chart({ title, x, xIs, xName, lines, show, showX, stepped = false, markX }: ChartProps) {
  const { place, width } = useWidth();
  const [pointed, setPointed] = useState<number | null>(null);
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const most = Math.max(1, ...all) * 1.1;
  const rows = numberTicks(0, most, Math.floor((HEIGHT - TOP - BOTTOM) / ROW_SPACE));
  const left = Math.max(...rows.map((value) => show(value).length)) * DIGIT + 16;
  const [from = 0, to = from] = [x[0], x.at(-1)];
  const atX = scale(from, to, left + 4, width - RIGHT);
  const atY = scale(0, most, HEIGHT - BOTTOM, TOP);
  const parts = Math.max(2, Math.floor((width - left) / LABEL_SPACE));
  const times =
    xIs === 'time'
      ? timeTicks(from, to, parts)
      : numberTicks(from, to, parts).map((at) => ({ at, label: showX(at), date: null }));
  // Until a value is pointed at, the present one is shown: the marked one, or the last.
  const present = markX === undefined ? x.length - 1 : nearest(x, markX.at);
  const shown = Math.min(pointed ?? present, x.length - 1);
  const shownX = x[shown];

  const point = (event: PointerEvent): void => {
    const box = place.current?.getBoundingClientRect();
    if (box === undefined) return;
    setPointed(nearest(x.map(atX), event.clientX - box.left));
  };
  const textOf = ({ values }: Line, at: number): string => {
    const value = values[at];
    return value === null || value === undefined ? 'none' : show(value);
  };

  return (
    <figure class="chart awaited">
      <figcaption class="legend">
        {lines.map((line, index) => (
          <span>
            <span class={`key ${line.asset}${index === 0 ? '' : ' dashed'}`} aria-hidden="true" />
            {line.name} <strong class="number">{textOf(line, shown)}</strong>
          </span>
        ))}
        <span class="number">{shownX === undefined ? '' : showX(shownX)}</span>
      </figcaption>
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
          <Axes values={rows} times={times} {...{ show, atX, atY, left, width }} />
          {lines.map((line, index) => (
            <g class={`line ${line.asset}`}>
              {runsOf(x, line.values, atX, atY).map((run) => (
                <>
                  {index === 0 ? <path class="area" d={areaOf(run, stepped, HEIGHT - BOTTOM)} /> : null}
                  <path class={index === 0 ? 'stroke' : 'stroke dashed'} d={pathOf(run, stepped)} />
                  {run.length === 1 ? <circle cx={run[0]?.[0]} cy={run[0]?.[1]} r="4" /> : null}
                </>
              ))}
            </g>
          ))}
          {markX === undefined ? null : (
            <>
              <path class="mark-line" d={`M${atX(markX.at)} ${TOP}V${HEIGHT - BOTTOM}`} />
              <text class="mark-name" x={atX(markX.at) + 6} y={TOP + 12}>
                {markX.name}
              </text>
            </>
          )}
          {pointed === null || shownX === undefined ? null : (
            <>
              <path class="pointed" d={`M${atX(shownX)} ${TOP}V${HEIGHT - BOTTOM}`} />
              {lines.map((line) => {
                const value = line.values[shown];
                return value === null || value === undefined ? null : (
                  <circle class={`line ${line.asset}`} cx={atX(shownX)} cy={atY(value)} r="4" />
                );
              })}
            </>
          )}
        </svg>
      </div>
      <details>
        <summary>As a table</summary>
        <Table
          label={`${title}, as a table`}
          columns={[{ name: xName }, ...lines.map(({ name }) => ({ name, right: true }))]}
          rows={x.map((at, row) => [showX(at), ...lines.map((line) => textOf(line, row))])}
          empty="No figures yet."
        />
      </details>
    </figure>
  );
}

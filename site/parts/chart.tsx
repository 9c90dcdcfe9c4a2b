import { useEffect, useRef, useState } from 'hono/jsx';
import type uPlot from 'uplot';
import { Table } from './table.tsx';

export type Line = { readonly name: string; readonly values: readonly (number | null)[] };

export type ChartProps = {
  /** What it shows, for people who do not see it. */
  readonly title: string;
  /** Unix seconds for times, else any ascending numbers. */
  readonly x: readonly number[];
  readonly xIs: 'time' | 'number';
  readonly xName: string;
  readonly lines: readonly [Line] | readonly [Line, Line];
  /** How a value is written in the table and beside the axis. */
  readonly show: (value: number) => string;
  readonly showX: (value: number) => string;
  readonly stepped?: boolean;
  /** A vertical mark, such as where things stand now. */
  readonly markX?: number;
};

const HEIGHT_PX = 260;
const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** One point has no width of its own: half a day to each side. */
const aroundOne = (_plot: uPlot, low: number): uPlot.Range.MinMax => [low - 43_200, low + 43_200];

function options(Plot: typeof uPlot, props: ChartProps, width: number): uPlot.Options {
  const grid = { stroke: colour('--line'), width: 1 };
  const paths = props.stepped ? Plot.paths.stepped?.({ align: 1 }) : undefined;
  const single = props.x.length < 2;
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    scales: {
      x: { time: props.xIs === 'time', ...(single ? { range: aroundOne } : {}) },
      y: { range: (_plot, _low, high) => [0, (high || 1) * 1.1] },
    },
    axes: [
      {
        stroke: colour('--soft'),
        grid: { show: false },
        ticks: grid,
        ...(props.xIs === 'number' ? { values: (_plot: uPlot, at: number[]) => at.map(props.showX) } : {}),
      },
      {
        stroke: colour('--soft'),
        grid,
        ticks: { show: false },
        size: 84,
        values: (_plot, at) => at.map(props.show),
      },
    ],
    series: [
      {},
      ...props.lines.map((line, index) => ({
        label: line.name,
        stroke: colour(index === 0 ? '--accent' : '--second'),
        width: 2,
        ...(index === 0 ? {} : { dash: [6, 4] }),
        points: { show: single },
        ...(paths ? { paths } : {}),
      })),
    ],
    hooks: {
      draw: [
        (plot) => {
          if (props.markX === undefined) return;
          const at = plot.valToPos(props.markX, 'x', true);
          const { ctx, bbox } = plot;
          ctx.save();
          ctx.strokeStyle = colour('--second');
          ctx.setLineDash([4, 4]);
          ctx.beginPath();
          ctx.moveTo(at, bbox.top);
          ctx.lineTo(at, bbox.top + bbox.height);
          ctx.stroke();
          ctx.restore();
        },
      ],
    },
  };
}

/** Lines to look at, and the same figures to read. */
export function Chart(props: ChartProps) {
  const { title, x, lines, show, showX, xName } = props;
  const place = useRef<HTMLDivElement | null>(null);
  const [failed, setFailed] = useState(false);
  const shape = JSON.stringify([x, lines, props.markX]);

  useEffect(() => {
    let plot: uPlot | undefined;
    let over = false;
    let Plot: typeof uPlot | undefined;
    const draw = (): void => {
      const at = place.current;
      if (over || at === null || Plot === undefined) return;
      plot?.destroy();
      plot = new Plot(
        options(Plot, props, at.clientWidth),
        [[...x], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData,
        at,
      );
    };
    const resized = new ResizeObserver(() => {
      const at = place.current;
      if (plot && at) plot.setSize({ width: at.clientWidth, height: HEIGHT_PX });
    });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    import('uplot').then(
      (module) => {
        Plot = module.default;
        draw();
        if (place.current) resized.observe(place.current);
      },
      () => setFailed(true),
    );
    return () => {
      over = true;
      resized.disconnect();
      dark.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [shape]);

  return (
    <figure class="chart awaited">
      <figcaption class="legend">
        {lines.map((line, index) => (
          <span>
            <span class={index === 0 ? 'key' : 'key second'} aria-hidden="true" />
            {line.name}
          </span>
        ))}
      </figcaption>
      {failed ? <p class="fine">The drawing could not be loaded. The figures are in the table.</p> : null}
      <div
        class="plot"
        role="img"
        aria-label={`${title}. The same figures are in the table below.`}
        ref={place}
      />
      <details>
        <summary>As a table</summary>
        <Table
          label={`${title}, as a table`}
          columns={[{ name: xName }, ...lines.map(({ name }) => ({ name, right: true }))]}
          rows={x.map((at, row) => [
            showX(at),
            ...lines.map(({ values }) => {
              const value = values[row];
              return value === null || value === undefined ? 'none' : show(value);
            }),
          ])}
          empty="No figures yet."
        />
      </details>
    </figure>
  );
}

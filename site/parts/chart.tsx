import { useEffect, useRef, useState } from 'hono/jsx';
import type uPlot from 'uplot';
import { Table } from './table.tsx';

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

/** Every figure is a whole number of sats, tokens or views: 1, 2, 5, 10 and so on. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

const HEIGHT_PX = 260;
const FONT = '12px Geist, sans-serif';
const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const DAY_SECONDS = 86_400;
const COLOURS = { sol: '--sol', btc: '--btc-water', absr: '--absr', asry: '--asry' } as const;

/** ISO dates and 24-hour times in UTC in every locale: the day once, then the hours. */
const timeLabels = (_plot: uPlot, at: number[], _axis: number, _space: number, step: number): string[] => {
  let day = '';
  return at.map((seconds) => {
    const iso = new Date(seconds * 1000).toISOString();
    const date = iso.slice(5, 10);
    if (step >= DAY_SECONDS) return date;
    const label = date === day ? iso.slice(11, 16) : `${iso.slice(11, 16)}\n${date}`;
    day = date;
    return label;
  });
};

function options(Plot: typeof uPlot, props: ChartProps, width: number): uPlot.Options {
  const grid = { stroke: colour('--line'), width: 1 };
  const paths = props.stepped ? Plot.paths.stepped?.({ align: 1 }) : undefined;
  const single = props.x.length < 2;
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    // Whole pixels would make a curve angular.
    pxAlign: 0,
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: { y: false, points: { size: 7 } },
    scales: {
      x: { time: props.xIs === 'time' },
      y: { range: (_plot, _low, high) => [0, (high || 1) * 1.1] },
    },
    axes: [
      {
        stroke: colour('--soft'),
        grid: { show: false },
        ticks: grid,
        font: FONT,
        values: props.xIs === 'time' ? timeLabels : (_plot: uPlot, at: number[]) => at.map(props.showX),
      },
      {
        stroke: colour('--soft'),
        grid,
        ticks: { show: false },
        font: FONT,
        size: 84,
        incrs: WHOLE_STEPS,
        values: (_plot, at) => at.map(props.show),
      },
    ],
    series: [
      {},
      ...props.lines.map((line, index) => ({
        label: line.name,
        stroke: colour(COLOURS[line.asset]),
        width: 2.5,
        // The first line has a shaded area, the second is dashed, so they differ without colour.
        ...(index === 0 ? { fill: `${colour(COLOURS[line.asset])}22` } : { dash: [7, 5] }),
        points: { show: single },
        ...(paths ? { paths } : {}),
      })),
    ],
    hooks: {
      draw: [
        (plot) => {
          if (props.markX === undefined) return;
          const at = plot.valToPos(props.markX.at, 'x', true);
          const { ctx, bbox } = plot;
          ctx.save();
          ctx.strokeStyle = colour('--ink');
          ctx.setLineDash([4, 4]);
          ctx.beginPath();
          ctx.moveTo(at, bbox.top);
          ctx.lineTo(at, bbox.top + bbox.height);
          ctx.stroke();
          ctx.textAlign = 'left';
          ctx.fillStyle = colour('--ink');
          ctx.font = `${13 * devicePixelRatio}px Geist, sans-serif`;
          ctx.fillText(props.markX.name, at + 6 * devicePixelRatio, bbox.top + 14 * devicePixelRatio);
          ctx.restore();
        },
      ],
    },
  };
}

/** Lines as a picture, and the same figures as a table. */
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
            <span class={`key ${line.asset}${index === 0 ? '' : ' dashed'}`} aria-hidden="true" />
            {line.name}
          </span>
        ))}
      </figcaption>
      {failed ? <p class="fine">The chart could not be loaded. The figures are in the table.</p> : null}
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

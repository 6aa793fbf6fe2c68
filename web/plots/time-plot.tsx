import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { Folded } from '../parts/folded.tsx';
import { onTheme } from './on-theme.ts';

/** A line or a layer of a plot. */
export interface Series {
  readonly name: string;
  /** One value for each time; null is unknown, which is not zero. */
  readonly values: readonly (number | null)[];
}

interface TimePlotProps {
  /** What the plot shows, e.g. `Spend by model`. */
  readonly title: string;
  /** The start of each bucket, ms. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Layers on each other, whose sum is the whole. They are drawn as bars, as is `bars`. */
  readonly stacked?: boolean;
  /** True for sums of whole buckets, e.g. spend by day. Lines are for figures such as a latency. */
  readonly bars?: boolean;
  readonly format: (value: number) => string;
  /** Few characters, for the axis; default: `format`. */
  readonly axis?: ((value: number) => string) | undefined;
  /** Called with the chosen range, ms, when the reader drags over the plot. */
  readonly onZoom?: ((from: number, to: number) => void) | undefined;
  readonly height?: number;
}

/** The colours of the series, in their order. They differ in lightness too. */
export const SERIES_COLORS = [
  'oklch(0.6 0.11 215)',
  'oklch(0.72 0.14 70)',
  'oklch(0.56 0.15 300)',
  'oklch(0.68 0.14 155)',
  'oklch(0.62 0.17 25)',
  'oklch(0.78 0.1 195)',
  'oklch(0.5 0.12 260)',
  'oklch(0.65 0.02 220)',
] as const;

export const colorOf = (index: number): string =>
  SERIES_COLORS[index % SERIES_COLORS.length] ?? SERIES_COLORS[0];

/**
 * A plot over time. A drag zooms. The same values stand in a table behind it, which readers without a
 * mouse or without sight open.
 */
export function TimePlot(props: TimePlotProps) {
  const { title, times, series, stacked = false, format, axis = format, height = 240 } = props;
  const bars = props.bars === true || stacked;
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const names = JSON.stringify(series.map(({ name }) => name));
  // biome-ignore lint/correctness/useExhaustiveDependencies: new values move the lines of the same plot
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const zoom = (...range: [from: number, to: number]) => latest.current.onZoom?.(...range);
    const draw = (width: number) => {
      const now = latest.current;
      const current = () => latest.current.series;
      const parts = { element, width, stacked, bars, format, axis, height, zoom, current };
      const data = dataOf(now.times, now.series, stacked);
      return new uPlot(optionsOf({ ...parts, series: now.series }), data, element);
    };
    // The browser tells the width when it has laid out the page. To ask for it here would have the page laid out twice.
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width } = entry.contentRect;
      if (plot.current) plot.current.setSize({ width, height });
      else plot.current = draw(width);
    });
    observer.observe(element);
    const unfollow = onTheme(() => plot.current?.redraw(false));
    return () => {
      unfollow();
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [names, stacked, bars, format, axis, height]);
  useEffect(() => plot.current?.setData(dataOf(times, series, stacked)), [times, series, stacked]);
  return (
    <figure className="grid min-w-0 gap-2" aria-label={title}>
      <div ref={holder} aria-hidden="true" className="min-w-0" style={{ height }} />
      <Legend series={series} />
      <PlotTable {...props} />
    </figure>
  );
}

function Legend({ series }: Pick<TimePlotProps, 'series'>) {
  if (series.length < 2) return null;
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {series.map(({ name }, index) => (
        <li key={name} className="flex items-center gap-1.5">
          <span className="size-2.5 rounded-sm" style={{ background: colorOf(index) }} />
          {name}
        </li>
      ))}
    </ul>
  );
}

function PlotTable({ title, times, series, format }: TimePlotProps) {
  return (
    <Folded summary="As a table" className="text-sm">
      {() => (
        <section
          tabIndex={0}
          aria-label={title}
          className="mt-2 max-h-80 overflow-auto rounded-box border border-line"
        >
          <table className="w-full text-left">
            <caption className="sr-only">{title}</caption>
            <thead className="sticky top-0 bg-sunk">
              <tr>
                <th scope="col" className="px-3 py-1.5 font-medium">
                  From
                </th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" className="px-3 py-1.5 text-right font-medium">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, row) => (
                <tr key={time} className="border-t border-line">
                  <th scope="row" className="px-3 py-1 font-normal whitespace-nowrap">
                    {new Date(time).toLocaleString()}
                  </th>
                  {series.map(({ name, values }) => (
                    <td key={name} className="px-3 py-1 text-right figures">
                      {shownValue(values[row], format)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Folded>
  );
}

const shownValue = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? 'unknown' : format(value);

/** Sums the layers from the last one up, so that each is drawn from the sum below it. */
function dataOf(
  times: readonly number[],
  series: readonly Series[],
  stacked: boolean,
): uPlot.AlignedData {
  const seconds = times.map((time) => time / 1_000);
  if (!stacked) return [seconds, ...series.map(({ values }) => [...values])];
  const sums = seconds.map(() => 0);
  const layers = series.toReversed().map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return sums[index] ?? 0;
    }),
  );
  return [seconds, ...layers.toReversed()];
}

interface OptionParts extends Pick<TimePlotProps, 'series' | 'format'> {
  readonly bars: boolean;
  readonly axis: (value: number) => string;
  readonly element: HTMLElement;
  /** Pixels. */
  readonly width: number;
  readonly stacked: boolean;
  readonly height: number;
  readonly zoom: (from: number, to: number) => void;
  /** The series with their latest values. */
  readonly current: () => readonly Series[];
}

function optionsOf(parts: OptionParts): uPlot.Options {
  const { element, width, series, stacked, bars, format, height, zoom, current } = parts;
  const styles = getComputedStyle(element);
  const axis: uPlot.Axis = {
    // Another theme has another colour.
    stroke: () => styles.color,
    grid: { stroke: 'oklch(0.6 0.02 215 / 22%)', width: 1 },
    ticks: { show: false },
    font: `12px ${styles.fontFamily}`,
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
    select: { show: true, left: 0, top: 0, width: 0, height: 0 },
    axes: [axis, { ...axis, size: 68, values: (_, ticks) => ticks.map(parts.axis) }],
    scales: {
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
      // The bar of the last bucket begins at the last time.
      x: { range: (plot, first, last) => [first, last + (bars ? stepOf(plot) : 0)] },
    },
    series: [
      {},
      ...series.map(({ name }, index) => ({
        label: name,
        stroke: colorOf(index),
        width: bars ? 0 : 2,
        ...(bars || series.length === 1 ? { fill: faded(colorOf(index), bars) } : {}),
        ...(bars ? { paths: BARS } : {}),
        points: { show: !bars, size: 5 },
      })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const from = plot.posToVal(plot.select.left, 'x');
          const to = plot.posToVal(plot.select.left + plot.select.width, 'x');
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          zoom(from * 1_000, to * 1_000);
        },
      ],
    },
    plugins: [hover(current, { format, stacked, bars })],
  };
}

/** A bar fills its bucket, but for a gap. */
const BARS = uPlot.paths.bars?.({ align: 1, size: [0.86, 72] }) ?? (() => null);

/** The length of a bucket, in units of the scale. */
const stepOf = ({ data: [times] }: uPlot): number =>
  times.length > 1 ? (times.at(-1) ?? 0) - (times.at(-2) ?? 0) : 3_600;

const faded = (color: string, stacked: boolean): string =>
  color.replace(')', stacked ? ' / 85%)' : ' / 14%)');

/** Shows the values under the pointer beside the plot's top. */
function hover(
  current: () => readonly Series[],
  { format, stacked, bars }: Pick<OptionParts, 'format' | 'stacked' | 'bars'>,
): uPlot.Plugin {
  const box = document.createElement('div');
  box.className =
    'pointer-events-none absolute top-1 left-16 z-10 hidden rounded-control border border-line bg-card px-2.5 py-1.5 text-xs shadow';
  return {
    hooks: {
      init: (plot) => plot.over.parentElement?.append(box),
      setCursor: (plot) => {
        const { left = -1 } = plot.cursor;
        // The bucket under the pointer, not the nearest start of one.
        const at_s = left < 0 ? undefined : plot.posToVal(left, 'x');
        const idx =
          at_s === undefined || !bars
            ? plot.cursor.idx
            : Math.max(
                0,
                [...plot.data[0]].findLastIndex((time) => time <= at_s),
              );
        box.classList.toggle('hidden', idx === null || idx === undefined);
        if (idx === null || idx === undefined) return;
        const at = new Date((plot.data[0][idx] ?? 0) * 1_000).toLocaleString();
        const series = current();
        const lines = series.map(
          ({ name, values }) => `${name}: ${shownValue(values[idx], format)}`,
        );
        const sum = series.reduce((total, { values }) => total + (values[idx] ?? 0), 0);
        if (stacked && series.length > 1) lines.push(`Sum: ${format(sum)}`);
        box.replaceChildren(
          ...[at, ...lines].map((text) =>
            Object.assign(document.createElement('div'), { textContent: text }),
          ),
        );
      },
    },
  };
}

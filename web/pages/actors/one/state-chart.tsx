import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { TakenTransition } from '../../../../src/replay/taken.ts';
import { Chart } from '../../../charts/chart.tsx';
import type { ChartLights } from '../../../charts/draw.ts';
import type { ChartLayout } from '../../../charts/layout.ts';
import { svgOf } from '../../../charts/svg-text.ts';
import { Button } from '../../../parts/button.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { saveFile } from '../../../parts/save-file.ts';
import { loadLayout, MACHINES } from '../../machines/machines.ts';

interface StateChartProps {
  readonly kind: string;
  /** The path of the state that the actor is in. */
  readonly state: string;
  readonly taken: TakenTransition | undefined;
  /** The state that the reader asks about. */
  readonly chosen: string | undefined;
  readonly choose: (path: string) => void;
  /** What the saved chart shows: the actor and the moment. */
  readonly title: string;
  /** The name of its file, without its end. */
  readonly file: string;
}

/** The chart of an actor's machine. The state that it is in and its last transition are lit. */
export function StateChart(props: StateChartProps) {
  const { kind, state, taken, chosen, choose, title, file } = props;
  const machine = MACHINES.find(({ id }) => id === kind);
  const query = useQuery({
    queryKey: ['machines', kind],
    queryFn: () => (machine ? loadLayout(machine) : Promise.reject(new Error('no such machine'))),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Loaded query={query} height="h-96">
      {(layout) => {
        const lights = lightsOf(layout, state, taken, chosen);
        return (
          <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-1">
            <Scrolled state={state}>
              <Chart
                layout={layout}
                lights={lights}
                width={`max(${Math.round(layout.width * READABLE)}px, min(100%, ${layout.width}px))`}
                onState={choose}
              />
            </Scrolled>
            <Button
              kind="quiet"
              className="justify-self-start"
              onClick={() => saveFile(file, 'svg', svgOf(layout, lights, title))}
              title="The whole chart as it is lit now, as a file that needs nothing else"
            >
              Save chart
            </Button>
          </div>
        );
      }}
    </Loaded>
  );
}

/** In a smaller chart than this share of its size, the texts are hard to read. */
const READABLE = 0.8;

/** Keeps the state in the middle of the frame. Only the frame scrolls, so the page stays where it is. */
function Scrolled({ state, children }: { state: string; children: React.ReactNode }) {
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    const box = frame.current?.querySelector(`[data-state="${CSS.escape(state)}"]`);
    if (!frame.current || !box) return;
    const [outer, inner] = [frame.current.getBoundingClientRect(), box.getBoundingClientRect()];
    frame.current.scrollBy({
      left: inner.left + inner.width / 2 - (outer.left + outer.width / 2),
      top: inner.top + inner.height / 2 - (outer.top + outer.height / 2),
      behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth',
    });
  }, [state]);
  return (
    <section
      ref={frame}
      // Who has no mouse scrolls it by keyboard.
      tabIndex={0}
      aria-label="The chart, which scrolls"
      data-keeps-arrows
      className="max-h-[min(46rem,80dvh)] min-h-72 overflow-auto rounded-box border border-line bg-card"
    >
      {children}
    </section>
  );
}

function lightsOf(
  layout: ChartLayout,
  state: string,
  taken: TakenTransition | undefined,
  chosen: string | undefined,
): ChartLights {
  const parts = state.split('.');
  const active = new Set(parts.map((_, index) => parts.slice(0, index + 1).join('.')));
  const last = taken && lastArrow(layout, taken);
  return { active, ...(chosen === undefined ? {} : { chosen }), ...(last ? { last } : {}) };
}

/** A transition of all states inside a box begins at the box or at its "any". */
function lastArrow({ arrows }: ChartLayout, { event, source, target, ...rest }: TakenTransition) {
  const guard = rest.guard ?? (rest.failed.length > 0 ? 'else' : '');
  const sources = [source, source === '' ? '#any' : `${source}#any`];
  const arrow = arrows.find(
    (each) =>
      sources.includes(each.source) &&
      each.target === target &&
      each.label?.events.some((one) => one.event === event && one.guard === guard),
  );
  return arrow && { source: arrow.source, target: arrow.target, event, guard };
}

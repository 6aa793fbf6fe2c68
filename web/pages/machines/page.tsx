import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Chart } from '../../charts/chart.tsx';
import type { ChartLayout } from '../../charts/layout.ts';
import { svgOf } from '../../charts/svg-text.ts';
import { Button } from '../../parts/button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import type { Beginning } from '../../shell/begin.ts';
import { Missing } from '../../shell/missing.tsx';
import { loadLayout, MACHINES } from './machines.ts';
import { readMachineSearch } from './search.ts';
import { States } from './states.tsx';

/** The machine of an address; the first one if it names none. */
const machineOf = (id = MACHINES[0]?.id) => MACHINES.find((each) => each.id === id);

/** The read of the chart of a machine. */
const chartOf = (machine: ReturnType<typeof machineOf>) =>
  queryOptions({
    queryKey: ['machines', machine?.id],
    queryFn: () => (machine ? loadLayout(machine) : Promise.reject(new Error('no such machine'))),
    enabled: machine !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Begins to load the chart. */
export function begin({ queries, params }: Beginning): void {
  const machine = machineOf(params.machine);
  if (machine) queries.prefetchQuery(chartOf(machine));
}

/** A machine of Weir: its chart, and its states in words. */
export function MachinesPage() {
  const machine = machineOf(useParams({ strict: false }).machine);
  const { state } = readMachineSearch(useSearch({ strict: false }));
  const query = useQuery(chartOf(machine));
  if (!machine) return <Missing />;
  return (
    <Page
      title={`The machine “${machine.id}”`}
      question={`What may happen next? One actor for ${machine.one_for}.`}
      acts={query.data ? <ExportButton layout={query.data} /> : null}
    >
      <nav aria-label="Machines" className="flex flex-wrap gap-1">
        {MACHINES.map((each) => (
          <Link
            key={each.id}
            to="/machines/$machine"
            params={{ machine: each.id }}
            aria-current={each === machine ? 'page' : undefined}
            className="rounded-control px-2.5 py-1 text-sm text-soft hover:bg-sunk aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
          >
            {each.id}
          </Link>
        ))}
      </nav>
      <Loaded query={query} height="h-96">
        {(layout) => (
          <>
            <ChartFrame layout={layout} chosen={state} />
            <Section title="The states">
              <States layout={layout} chosen={state} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** In a smaller chart than this share of its size, the texts are hard to read. */
const READABLE = 0.75;

function ChartFrame({ layout, chosen }: { layout: ChartLayout; chosen: string | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const navigate = useNavigate();
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    const box =
      chosen === undefined
        ? null
        : frame.current?.querySelector(`[data-state="${CSS.escape(chosen)}"]`);
    box?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [chosen]);
  const readable = `max(${Math.round(layout.width * READABLE)}px, min(100%, ${layout.width}px))`;
  return (
    <figure className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <figcaption className="text-sm text-soft">
          A label is an event and its guard. Lines in a box change no state. Choose a state to read
          what it is.
        </figcaption>
        <Button kind="quiet" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
          Zoom to fit
        </Button>
      </div>
      <section
        ref={frame}
        // Who has no mouse scrolls it by keyboard.
        tabIndex={0}
        aria-label="The chart, which scrolls"
        className="overflow-auto rounded-box border border-line bg-card"
      >
        <Chart
          layout={layout}
          lights={chosen === undefined ? {} : { chosen }}
          width={isWhole ? '100%' : readable}
          onState={(state) =>
            navigate({
              to: '/machines/$machine',
              params: { machine: layout.machine },
              search: { state },
              resetScroll: false,
            })
          }
        />
      </section>
    </figure>
  );
}

function ExportButton({ layout }: { layout: ChartLayout }) {
  const save = () => {
    const address = URL.createObjectURL(new Blob([svgOf(layout)], { type: 'image/svg+xml' }));
    const link = Object.assign(document.createElement('a'), {
      ...{ href: address, download: `${layout.machine}.svg` },
    });
    link.click();
    URL.revokeObjectURL(address);
  };
  return <Button onClick={save}>Export as SVG</Button>;
}

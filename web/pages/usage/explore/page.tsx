import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useKeyNames } from '../../../api/key-names.ts';
import type { UsageQuery } from '../../../api/types.ts';
import { useRefresh } from '../../../live/refresh.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Button } from '../../../parts/button.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Card } from '../../../parts/page.tsx';
import { TimePlot } from '../../../plots/time-plot.tsx';
import type { Beginning } from '../../../shell/begin.ts';
import { beginFilters } from '../begin.ts';
import { Filters } from '../filters.tsx';
import { UsagePage } from '../tabs.tsx';
import { SavedViews } from '../views.tsx';
import { Controls } from './controls.tsx';
import { Exports } from './exports.tsx';
import { figuresOf } from './figures.ts';
import { Headline } from './headline.tsx';
import { explored } from './read.ts';
import { labelled, plotOf } from './rows.ts';
import {
  EXPLORE_PATH,
  type ExploreSearch,
  exploreQuery,
  exploreSearchOf,
  METRICS,
  type MetricName,
} from './search.ts';
import { SeriesTable } from './series-table.tsx';
import { wholeBuckets } from './zoom.ts';

/** While calls arrive all the time, the sums are read again at most so often, ms. */
const READ_EVERY_MS = 5_000;

/** Begins the reads of the filters. The route has begun the other one. */
export function begin(beginning: Beginning): void {
  beginFilters(beginning, 'usage');
}

/** One metric of usage, by group and time. */
export function ExplorePage() {
  const search = exploreSearchOf(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change = (changed: ExploreSearch, replace = true) =>
    navigate({ to: '/usage', search: changed, replace, resetScroll: false });
  const query = useQuery({ ...explored(search), placeholderData: keepPreviousData });
  const isHeld = search.as_of !== undefined;
  useRefresh({ name: 'explore', every_ms: READ_EVERY_MS, enabled: !isHeld });
  const keys = useMemo(() => keysOf(query.data), [query.data]);
  const names = useKeyNames(keys);
  return (
    <UsagePage
      title="Usage"
      question="Where did the money go?"
      search={search}
      acts={
        <>
          <Exports search={search} as_of={query.data?.as_of} />
          <Button
            disabled={query.data === undefined}
            onClick={() => change({ ...search, as_of: isHeld ? undefined : query.data?.as_of })}
          >
            {isHeld ? 'Go on live' : 'Freeze'}
          </Button>
        </>
      }
      call={<ApiCall path={EXPLORE_PATH} query={exploreQuery(search, Date.now())} />}
    >
      <SavedViews page="usage" to="/usage" search={search} />
      <Controls search={search} onChange={change} />
      <Filters
        search={search}
        onChange={(filters) => change({ ...exploreSearchOf({ ...search, ...filters }) })}
        names={names}
      />
      <Loaded query={query} height="h-96">
        {(answer) => (
          <div
            className={`grid min-w-0 gap-6 ${query.isPlaceholderData ? 'opacity-60' : ''}`}
            aria-busy={query.isPlaceholderData}
          >
            <Answer
              answer={answer}
              search={search}
              names={names}
              zoom={(startDate, endDate) =>
                change(
                  {
                    ...search,
                    ...{ startDate, endDate, range: undefined, bucket: undefined },
                  },
                  false,
                )
              }
            />
          </div>
        )}
      </Loaded>
    </UsagePage>
  );
}

interface AnswerProps {
  readonly answer: UsageQuery;
  readonly search: ExploreSearch;
  readonly names: ReadonlyMap<string, string> | undefined;
  readonly zoom: (startDate: string, endDate: string) => void;
}

function Answer({ answer, search, names, zoom }: AnswerProps) {
  const metric = answer.metric as MetricName;
  const figures = figuresOf(metric);
  const isCumulative = search.cumulative === true && figures.isSum;
  const rows = useMemo(() => labelled(answer, names), [answer, names]);
  const plot = useMemo(
    () => plotOf(answer, rows, figures, isCumulative),
    [answer, rows, figures, isCumulative],
  );
  return (
    <>
      <Card className="grid gap-4">
        <Headline answer={answer} figures={figures} search={search} />
        <TimePlot
          title={`${METRICS[metric]}${isCumulative ? ', summed from the start' : ''}`}
          times={plot.times}
          series={plot.series}
          stacked={figures.isSum && plot.isStacked}
          bars={figures.isSum && plot.series.length === 1}
          format={figures.show}
          axis={figures.short}
          onZoom={(from, to) => {
            const [start, end] = wholeBuckets(answer, from, to);
            zoom(start, end);
          }}
        />
        <p className="text-sm text-soft">
          Drag over the plot to zoom in; Back zooms out. Days begin at midnight in{' '}
          {answer.time_zone.replaceAll('_', ' ')}.
          {answer.lines_since === undefined
            ? ''
            : ` Usage is complete since ${new Date(answer.lines_since).toLocaleDateString()}.`}
        </p>
      </Card>
      <SeriesTable answer={answer} rows={rows} figures={figures} search={search} />
    </>
  );
}

function keysOf(answer: UsageQuery | undefined): string[] {
  const { group, subgroup, series = [] } = answer ?? {};
  if (group === 'api_key_id') return series.flatMap((row) => row.group ?? []);
  return subgroup === 'api_key_id' ? series.flatMap((row) => row.subgroup ?? []) : [];
}

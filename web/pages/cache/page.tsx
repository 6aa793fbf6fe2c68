import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useRefresh } from '../../live/refresh.ts';
import { Amount } from '../../parts/amount.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Choice } from '../../parts/choice.tsx';
import { Empty } from '../../parts/empty.tsx';
import { percent, shortCount } from '../../parts/figures.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import { TimePlot } from '../../plots/time-plot.tsx';
import type { Beginning } from '../../shell/begin.ts';
import { Guarded } from '../../shell/guarded.tsx';
import { useHere } from '../../shell/here.ts';
import { figuresOf } from '../usage/explore/figures.ts';
import { labelled, plotOf } from '../usage/explore/rows.ts';
import { RANGES } from '../usage/search.ts';
import { ByModel } from './by-model.tsx';
import { Control } from './control.tsx';
import { beginCache, CACHE_PATH, cacheQuery, useCache } from './data.ts';
import { type CacheFigures, ratesByDay } from './rows.ts';
import { CACHE_RANGES, type CacheRange, cacheSearchOf } from './search.ts';
import { Totals } from './totals.tsx';

/** While calls arrive all the time, the figures are read again at most so often, ms. */
const READ_EVERY_MS = 5_000;
const STANDARD: CacheRange = '30d';

/** Begins the reads of the page. */
export function begin({ queries, here, search }: Beginning): void {
  if (here.may('usage.read')) beginCache(queries, cacheSearchOf(search).range ?? STANDARD);
}

/** What does the cache save? */
export function CachePage() {
  const { range = STANDARD } = cacheSearchOf(useSearch({ strict: false }));
  return (
    <Page
      title="Cache"
      question="What does it save?"
      acts={<RangeChoice range={range} />}
      call={<ApiCall path={CACHE_PATH} query={cacheQuery('saved', range, Date.now())} />}
    >
      <Guarded needs="usage.read">
        <Figures range={range} />
      </Guarded>
      {useHere().may('settings.read') ? <Control /> : null}
    </Page>
  );
}

function RangeChoice({ range }: { range: CacheRange }) {
  const navigate = useNavigate();
  return (
    <Choice
      label="Time"
      value={range}
      options={CACHE_RANGES.map((value) => ({ value, label: RANGES[value] }))}
      onChoose={(chosen = STANDARD) =>
        navigate({
          ...{ to: '/cache', replace: true, resetScroll: false },
          search: chosen === STANDARD ? {} : cacheSearchOf({ range: chosen }),
        })
      }
    />
  );
}

function Figures({ range }: { range: CacheRange }) {
  const { lookups, hits, saved } = useCache(range);
  useRefresh({ name: 'cache', every_ms: READ_EVERY_MS });
  const all = useMemo<CacheFigures | undefined>(
    () =>
      lookups.data && hits.data && saved.data
        ? { lookups: lookups.data, hits: hits.data, saved: saved.data }
        : undefined,
    [lookups.data, hits.data, saved.data],
  );
  const failed = [lookups, hits, saved].find(({ error }) => error) ?? lookups;
  return (
    <Loaded query={{ ...failed, data: all }} height="h-96">
      {(figures) =>
        figures.lookups.total.value ? (
          <Answer figures={figures} range={range} />
        ) : (
          <Empty title="No call was looked up in this time">
            The second identical call gets the answer of the first one, at once and free. A call is
            looked up if its temperature is absent or 0. This page then shows what that saves.
          </Empty>
        )
      }
    </Loaded>
  );
}

const money = figuresOf('cost');
const ofUsd = (usd: number): string => Amount.ofUsd(usd).short;

function Answer({ figures, range }: { figures: CacheFigures; range: CacheRange }) {
  const { lookups, hits, saved } = figures;
  const plot = useMemo(() => {
    const series = saved.series.filter(({ value }) => (value ?? 0) > 0);
    const shown = { ...saved, series };
    return plotOf(shown, labelled(shown, undefined), money, false);
  }, [saved]);
  const rates = useMemo(() => [{ name: 'Hit rate', values: ratesByDay(figures) }], [figures]);
  return (
    <div className="grid min-w-0 gap-6">
      <Totals
        saved={saved.total.value ?? 0}
        hits={hits.total.value ?? 0}
        lookups={lookups.total.value ?? 0}
        range={range}
      />
      <Section title="Saved, by model and day">
        <Card>
          <TimePlot
            title="Saved by model and day"
            times={plot.times}
            series={plot.series}
            stacked={plot.isStacked}
            format={ofUsd}
            axis={(usd) => `$${shortCount(usd)}`}
          />
        </Card>
      </Section>
      <Section title="Hit rate, by day">
        <Card>
          <TimePlot
            title="Hit rate by day"
            times={plot.times}
            series={rates}
            format={percent}
            height={180}
          />
        </Card>
      </Section>
      <Section title="By model">
        <ByModel figures={figures} range={range} />
      </Section>
    </div>
  );
}

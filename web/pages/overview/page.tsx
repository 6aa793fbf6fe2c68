import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/client.ts';
import { useKeyNames } from '../../api/key-names.ts';
import type { Balance, RunningCalls } from '../../api/types.ts';
import { Amount } from '../../parts/amount.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { count, counted, percent } from '../../parts/figures.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import { duration } from '../../parts/time.tsx';
import { Bars } from '../../plots/bars.tsx';
import { changeOf, figuresOf } from '../usage/explore/figures.ts';
import { KeyName } from '../usage/key-name.tsx';
import { instantOf, ZONE } from '../usage/search.ts';
import { Stat } from './figure.tsx';
import { forecastOf, monthsOf } from './months.ts';
import { Notices } from './notices.tsx';
import { usePicture } from './picture.ts';
import { type Seen, sinceOf } from './since.ts';
import { Top } from './top.tsx';

/** How often running calls are counted, ms. */
const COUNT_EVERY_MS = 3_000;
const money = figuresOf('cost');
const hour = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });

/** Are we well, and what do we spend? */
export function OverviewPage() {
  const picture = usePicture();
  const { months, seen } = picture;
  const as_of = months.data && sinceOf(months.data.as_of, seen).as_of;
  return (
    <Page
      title="Overview"
      question="Are we well, and what do we spend?"
      acts={
        <span className="text-sm text-soft">
          {as_of === undefined ? '' : `As of ${new Date(instantOf(as_of)).toLocaleTimeString()}`}
        </span>
      }
      call={
        <ApiCall
          path="/v1/management/usage/query"
          query={{ metric: 'cost', bucket: 'day', timeZone: ZONE }}
        />
      }
    >
      <Notices />
      <Figures picture={picture} />
      <Section title="Spend of the last 24 hours">
        <Card>
          <Loaded query={picture.hours} height="h-64">
            {(hours) => <Hours answer={hours} seen={seen} />}
          </Loaded>
        </Card>
      </Section>
      <Tops picture={picture} />
    </Page>
  );
}

type Picture = ReturnType<typeof usePicture>;

function Figures({ picture }: { picture: Picture }) {
  const { months, hours, errors, first_token, seen } = picture;
  const balance = useQuery({
    queryKey: ['balance'],
    queryFn: ({ signal }) => api.get<Balance>('/v1/management/balance', {}, signal),
  });
  const calls = useQuery({
    queryKey: ['running-calls', 'count'],
    queryFn: ({ signal }) => api.get<RunningCalls>('/v1/management/calls', {}, signal),
    refetchInterval: COUNT_EVERY_MS,
  });
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-3">
      <Spend months={months} seen={seen} />
      <Calls hours={hours} errors={errors} seen={seen} />
      <Stat
        title="Time to first token, 24 hours"
        to="/usage"
        search={{ metric: 'first_token_mean', range: '24h', group: 'none' }}
        of={first_token}
        below={
          <Before
            now={first_token.data?.total.value}
            before={first_token.data?.total.previous?.value}
            show={duration}
          />
        }
      >
        {first_token.data?.total.value == null ? (
          <span className="text-soft">no stream yet</span>
        ) : (
          duration(first_token.data.total.value)
        )}
      </Stat>
      <Stat
        title="Balance"
        to="/billing"
        of={balance}
        below={
          <>
            <Money usd={balance.data?.held} /> held by running calls and tasks
          </>
        }
      >
        <Money usd={balance.data?.available} className="font-semibold" />
      </Stat>
      <Stat
        title="In flight"
        to="/usage/calls"
        of={calls}
        below={
          <>
            <Money usd={calls.data?.held} /> held
            {calls.data && calls.data.silent_replicas > 0 ? ', some replicas are silent' : ''}
          </>
        }
      >
        {counted(calls.data?.total ?? 0, 'call')}
      </Stat>
    </div>
  );
}

function Spend({ months, seen }: { months: Picture['months']; seen: readonly Seen[] }) {
  const since = months.data && sinceOf(months.data.as_of, seen);
  const at_ms = since ? instantOf(since.as_of) : 0;
  const sums = months.data && monthsOf(months.data, instantOf(months.data.as_of));
  const more = since?.amount ?? Amount.zero;
  const this_month = sums?.this_month.plus(more);
  const forecast =
    sums && this_month
      ? forecastOf({ ...sums, this_month, recent: withLast(sums.recent, more) }, at_ms)
      : undefined;
  return (
    <>
      <Stat
        title="Spend today"
        to="/usage"
        search={{ range: 'today', as_of: since?.as_of }}
        of={months}
        below="since midnight"
      >
        <Money usd={sums?.today.plus(more).usd} className="font-semibold" />
      </Stat>
      <Stat
        title="Spend this month"
        to="/usage"
        search={{ range: 'month', as_of: since?.as_of }}
        of={months}
        below={
          <>
            <span title="So far, and the spend of the last seven days for the days that are left">
              about <Money usd={forecast} /> at the month’s end
            </span>
            <span className="block">
              last month <Money usd={sums?.last_month.usd} />,{' '}
              <Money usd={sums?.last_month_until_now.usd} /> by this day
            </span>
          </>
        }
      >
        <Money usd={this_month?.usd} className="font-semibold" />
      </Stat>
    </>
  );
}

/** Adds what was spent since to the last day. */
const withLast = (days: readonly Amount[], more: Amount): Amount[] =>
  days.map((day, index) => (index === days.length - 1 ? day.plus(more) : day));

interface CallsProps {
  readonly hours: Picture['hours'];
  readonly errors: Picture['errors'];
  readonly seen: readonly Seen[];
}

function Calls({ hours, errors, seen }: CallsProps) {
  const since = hours.data && sinceOf(hours.data.as_of, seen);
  const requests = (hours.data?.total.requests ?? 0) + (since?.calls ?? 0);
  return (
    <Stat
      title="Requests, 24 hours"
      to="/usage/requests"
      search={{ startDate: hours.data?.from, running: 'false', as_of: since?.as_of }}
      of={hours}
      below={<Success errors={errors} seen={seen} />}
    >
      {count(requests)}
    </Stat>
  );
}

function Success({ errors, seen }: Pick<CallsProps, 'errors' | 'seen'>) {
  const { data } = errors;
  if (data === undefined) return errors.error ? 'success unknown' : null;
  const since = sinceOf(data.as_of, seen);
  const requests = data.total.requests + since.calls;
  if (requests === 0) return 'none yet';
  const failed =
    Math.round((data.total.value ?? 0) * data.total.requests) + since.calls - since.succeeded;
  const success = figuresOf('error_rate');
  return (
    <>
      {percent((requests - failed) / requests)} succeeded
      <span className="block">
        <Before
          now={success.of(data.total.value)}
          before={success.of(data.total.previous?.value ?? null)}
          show={percent}
        />
      </span>
    </>
  );
}

interface BeforeProps {
  readonly now: number | null | undefined;
  readonly before: number | null | undefined;
  readonly show: (value: number) => string;
}

/** A figure of the day before, and the change since. */
function Before({ now = null, before = null, show }: BeforeProps) {
  if (before === null) return 'nothing the day before';
  const change = changeOf(now, before);
  return `${show(before)} the day before${change === undefined ? '' : ` (${change})`}`;
}

function Hours({
  answer,
  seen,
}: {
  answer: NonNullable<Picture['hours']['data']>;
  seen: readonly Seen[];
}) {
  const since = sinceOf(answer.as_of, seen);
  const starts = answer.buckets.map((bucket) => Date.parse(bucket));
  const bars = answer.buckets.map((startDate, index) => {
    const value = answer.total.values[index] ?? null;
    const end = starts[index + 1];
    const isNow = end === undefined;
    return {
      label: `${hour.format(starts[index])} – ${isNow ? 'now' : hour.format(end)}`,
      value: isNow && value !== null ? Amount.ofUsd(value).plus(since.amount).usd : value,
      search: {
        startDate,
        endDate: isNow ? undefined : new Date(end - 1).toISOString(),
        ...{ running: 'false', as_of: since.as_of },
      },
    };
  });
  return <Bars title="Spend by hour" bars={bars} format={money.show} to="/usage/requests" />;
}

function Tops({ picture: { keys, models, seen } }: { picture: Picture }) {
  const ids = useMemo(
    () => keys.data?.series.flatMap(({ group }) => group ?? []) ?? [],
    [keys.data],
  );
  const names = useKeyNames(ids);
  return (
    <div className="grid min-w-0 gap-6 lg:grid-cols-2">
      <Top
        title="Keys this month"
        query={keys}
        search={{ group: 'api_key_id', range: 'month' }}
        name={(id) => <KeyName id={id} names={names} />}
        pageOf={(id) => `/keys/${id}`}
        more={keys.data && sinceOf(keys.data.as_of, seen).by_key}
      />
      <Top
        title="Models this month"
        query={models}
        search={{ range: 'month' }}
        name={(model) => model}
        pageOf={(model) => `/models/${encodeURIComponent(model)}`}
      />
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { Alert } from '../../api/types.ts';
import { useCalmList } from '../../live/calm-list.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { ChoiceFilter } from '../../parts/choice-filter.tsx';
import { Empty } from '../../parts/empty.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { WaitingRows } from '../../parts/waiting-rows.tsx';
import { alertsList, endpointsQuery, REREAD_MS } from './data.ts';
import { kindName, kindsOf } from './kinds.ts';
import type { AlertsSearch } from './search.ts';

interface AlertListProps {
  readonly search: AlertsSearch;
  readonly change: (changed: AlertsSearch) => void;
}

/** What needed a person, the newest first, in the words of the API. */
export function AlertList({ search, change }: AlertListProps) {
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const list = useCalmList<Alert>({
    ...alertsList(search),
    idOf: ({ id }) => id,
    refresh_ms: () => REREAD_MS,
  });
  return (
    <Section
      title="Alerts"
      acts={
        <span>
          <ChoiceFilter
            label="Kind of alerts"
            all="any kind"
            values={kindsOf(endpoints)}
            chosen={search.kind}
            choose={(kind) => change({ kind })}
          />
        </span>
      }
    >
      <Loaded query={list.query} height="h-40">
        {(alerts) =>
          alerts.length === 0 ? (
            <Empty title={search.kind ? `No alert: ${kindName(search.kind)}` : 'No alerts'}>
              Weir looks every minute whether a cap is nearly used, the balance is low, a day’s
              spend is unusual, a key is not used or a price changed. It looks only for what an
              endpoint receives.
            </Empty>
          ) : (
            <>
              <WaitingRows count={list.waiting} what="alert" show={list.showWaiting} />
              <ol
                aria-label="Alerts"
                className="divide-y divide-line rounded-box border border-line bg-card"
              >
                {alerts.map((alert) => (
                  <AlertLine key={alert.id} of={alert} />
                ))}
              </ol>
              {list.more ? (
                <Button busy={list.isReadingMore} onClick={list.more}>
                  Show more
                </Button>
              ) : null}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

/** The page of each kind of subject. A subject of another kind has no link. */
const SUBJECTS: Readonly<Record<string, (id: string) => string>> = {
  key: (id) => `/keys/${encodeURIComponent(id)}`,
  model: (id) => `/models/${encodeURIComponent(id)}`,
  budget: () => '/billing',
  organization: () => '/billing',
};

function AlertLine({ of: alert }: { of: Alert }) {
  const { id, kind, severity, subject, text, act, created_at, ended_at } = alert;
  const page = SUBJECTS[subject.kind]?.(subject.id);
  return (
    <li className="grid gap-1 px-4 py-3">
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <Badge tone={severity === 'problem' ? 'bad' : 'warn'}>{severity}</Badge>
        <span className="min-w-0 flex-1 basis-64 font-medium">{text}</span>
        <span className="text-sm text-soft">
          <Time at={created_at} ago />
        </span>
      </p>
      <p className="text-soft">{act}</p>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-soft">
        <span>{kindName(kind)}</span>
        {page === undefined ? (
          <bdi>{subject.name}</bdi>
        ) : (
          <GoLink to={page}>
            Open the {subject.kind} <bdi>{subject.name}</bdi>
          </GoLink>
        )}
        <GoLink to="/alerts" query={{ alert_id: id }}>
          Its deliveries
        </GoLink>
        {ended_at === null ? null : (
          <span>
            ended <Time at={ended_at} ago />
          </span>
        )}
      </p>
    </li>
  );
}

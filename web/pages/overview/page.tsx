import { useMemo } from 'react';
import { keyNames, useKeyNames } from '../../api/key-names.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import type { Beginning } from '../../shell/begin.ts';
import { KeyName } from '../usage/key-name.tsx';
import { instantOf } from '../usage/search.ts';
import { balanceNow, callsInFlight, Figures } from './figures.tsx';
import { Hours } from './hours.tsx';
import { Notices, notices } from './notices.tsx';
import { beginPicture, type Picture, usePicture } from './picture.ts';
import { OVERVIEW_PATH, overviewQuery } from './reads.ts';
import { sinceOf } from './since.ts';
import { Top } from './top.tsx';

/** Begins the reads of the page. */
export function begin({ queries }: Beginning): void {
  beginPicture(queries);
  queries.prefetchQuery(notices);
  queries.prefetchQuery(balanceNow);
  queries.prefetchQuery(callsInFlight);
  queries.prefetchQuery(keyNames);
}

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
      call={<ApiCall path={OVERVIEW_PATH} query={overviewQuery(Date.now())} />}
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

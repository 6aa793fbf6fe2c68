import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useKeyNames } from '../../../api/key-names.ts';
import type { Call } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Table } from '../../../parts/table.tsx';
import type { Beginning } from '../../../shell/begin.ts';
import { beginFilters } from '../begin.ts';
import { Filters } from '../filters.tsx';
import { requestOf } from '../reads.ts';
import { filterCount, type UsageSearch, usageSearchOf } from '../search.ts';
import { UsagePage } from '../tabs.tsx';
import { SavedViews } from '../views.tsx';
import { Arrivals } from './arrivals.tsx';
import { callPages, useCallList, useKeepPicture } from './call-list.ts';
import { callColumns } from './columns.tsx';
import { Sums } from './sums.tsx';

/** Begins the reads of the page. */
export function begin(beginning: Beginning): void {
  beginning.queries.prefetchInfiniteQuery(callPages(usageSearchOf(beginning.search)));
  beginFilters(beginning, 'usage-requests');
}

/** Every call, and what came of it. */
export function RequestsPage() {
  const search = usageSearchOf(useSearch({ strict: false }));
  const navigate = useNavigate();
  const list = useCallList(search);
  const keepPicture = useKeepPicture();
  const { query, calls, as_of, waiting } = list;
  const names = useKeyNames(calls.map(({ api_key_id }) => api_key_id));
  const change = (changed: UsageSearch) =>
    navigate({ to: '/usage/requests', search: changed, replace: true, resetScroll: false });
  const isHeld = search.as_of !== undefined;
  const showNew = () => {
    list.showWaiting();
    if (isHeld) change({ ...search, as_of: undefined });
  };
  const isEmpty = query.data !== undefined && calls.length === 0 && !query.isPlaceholderData;
  // Nothing can move in an empty list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what decides
  useEffect(() => {
    if (isEmpty && !isHeld && waiting.length > 0) list.showWaiting();
  }, [isEmpty, isHeld, waiting.length]);
  const freeze = () => {
    if (as_of === undefined) return;
    keepPicture(search, as_of);
    change({ ...search, as_of });
  };
  return (
    <UsagePage
      title="Requests"
      question="What happened to each call, and what did it cost?"
      search={search}
      acts={
        isHeld ? (
          <Button onClick={() => change({ ...search, as_of: undefined })}>Go on live</Button>
        ) : (
          <Button onClick={freeze} disabled={as_of === undefined}>
            Freeze
          </Button>
        )
      }
      call={<ApiCall path="/v1/management/requests" query={requestOf(search, Date.now())} />}
    >
      <SavedViews page="usage-requests" to="/usage/requests" search={search} />
      <Filters search={search} onChange={change} names={names} forList />
      <Loaded query={query} height="h-96">
        {() => (
          <div className="grid min-w-0 gap-3">
            <div className="flex min-h-9 flex-wrap items-center justify-between gap-x-6 gap-y-2">
              <Sums search={search} as_of={as_of} />
              <Arrivals list={list} isHeld={isHeld} show={showNew} />
            </div>
            {isEmpty ? (
              <NoCalls search={search} clear={() => change({})} />
            ) : (
              <>
                <Table<Call>
                  caption="Requests, the newest first"
                  columns={callColumns(names)}
                  rows={calls}
                  keyOf={({ request_id }) => request_id}
                  isNew={({ request_id }) => list.shown_last.has(request_id)}
                  onOpen={({ request_id }) =>
                    navigate({ to: '/usage/requests/$id', params: { id: request_id } })
                  }
                />
                {query.hasNextPage ? (
                  <Button
                    className="justify-self-center"
                    busy={query.isFetchingNextPage}
                    onClick={() => query.fetchNextPage()}
                  >
                    Show older requests
                  </Button>
                ) : null}
                <Kept page={query.data?.pages.at(-1)} />
              </>
            )}
          </div>
        )}
      </Loaded>
    </UsagePage>
  );
}

/** Says from when on the list is complete, if retention removed older rows. */
function Kept({ page }: { page: { lines_since?: string; records_since?: string } | undefined }) {
  const { lines_since, records_since } = page ?? {};
  if (lines_since === undefined && records_since === undefined) return null;
  const day = (iso: string) => new Date(iso).toLocaleDateString();
  return (
    <p className="text-sm text-soft">
      {lines_since ? `Charged calls are kept since ${day(lines_since)}. ` : ''}
      {records_since ? `Calls that cost nothing are kept since ${day(records_since)}.` : ''}
    </p>
  );
}

function NoCalls({ search, clear }: { search: UsageSearch; clear: () => void }) {
  if (filterCount(search) > 0 || search.range || search.startDate || search.endDate) {
    return (
      <Empty title="No call is like this" act={<Button onClick={clear}>Clear the filters</Button>}>
        No call matches the filters. New calls that match appear here by themselves.
      </Empty>
    );
  }
  return (
    <Empty
      title="No calls yet"
      command={`curl ${location.origin}/v1/chat/completions \\
  -H "Authorization: Bearer $WEIR_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'`}
    >
      Every call of your API keys stands here, also those that were refused: its outcome, its time
      and its money. This call is the first one; it appears within a second.
    </Empty>
  );
}

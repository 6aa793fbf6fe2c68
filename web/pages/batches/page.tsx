import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Batch } from '../../api/types.ts';
import { useCalmList } from '../../live/calm-list.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { ChoiceFilter } from '../../parts/choice-filter.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { WaitingRows } from '../../parts/waiting-rows.tsx';
import { BatchBar, BatchCost, CancelBatch, isRunning, PROGRESS_MS } from './batch-parts.tsx';
import { BATCH_STATES } from './search.ts';

const PATH = '/v1/management/batches';

/** How far is it? */
export function BatchesPage() {
  const { status, api_key_id } = useSearch({ from: '/inside/batches' });
  const navigate = useNavigate();
  const filters = { status, api_key_id };
  const isFiltered = status !== undefined || api_key_id !== undefined;
  const list = useCalmList<Batch>({
    key: ['batches', 'list', filters],
    path: PATH,
    query: filters,
    idOf: ({ id }) => id,
    refresh_ms: (batches) => (batches.some(isRunning) ? PROGRESS_MS : false),
  });
  return (
    <Page title="Batches" question="How far is it?" call={<ApiCall path={PATH} query={filters} />}>
      <div className="max-w-60">
        <ChoiceFilter
          label="State"
          all="Every state"
          values={BATCH_STATES}
          chosen={status}
          choose={(value) =>
            navigate({
              to: '/batches',
              search: { api_key_id, status: BATCH_STATES.find((each) => each === value) },
              replace: true,
            })
          }
        />
      </div>
      <Loaded query={list.query} height="h-96">
        {(batches) =>
          batches.length === 0 && isFiltered ? (
            <Empty
              title="No batch fits"
              act={<Button onClick={() => navigate({ to: '/batches' })}>Show all batches</Button>}
            >
              A batch must fit all of the filters.
            </Empty>
          ) : batches.length === 0 ? (
            <Empty title="No batch yet" command={FIRST_BATCH(location.origin)}>
              A message batch runs up to 100,000 requests in the background, within 24 hours. Its
              progress, its results and its cost appear here.
            </Empty>
          ) : (
            <>
              <WaitingRows count={list.waiting} what="batch" show={list.showWaiting} />
              <Table
                caption="Batches"
                rows={batches}
                keyOf={({ id }) => id}
                columns={COLUMNS}
                onOpen={({ id }) => navigate({ to: '/batches/$id', params: { id } })}
              />
              {list.more ? (
                <Button busy={list.isReadingMore} onClick={list.more}>
                  Show more
                </Button>
              ) : null}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const FIRST_BATCH = (origin: string) => `curl '${origin}/v1/messages/batches' \\
  -H "x-api-key: $WEIR_KEY" -H 'anthropic-version: 2023-06-01' \\
  -H 'Content-Type: application/json' \\
  -d '{"requests": [{"custom_id": "one", "params": {"model": "claude-haiku-4-5", "max_tokens": 100,
       "messages": [{"role": "user", "content": "Say hello."}]}}]}'`;

const COLUMNS: Column<Batch>[] = [
  {
    title: 'Batch',
    cell: ({ id }) => (
      <Link
        to="/batches/$id"
        params={{ id }}
        className="font-mono text-[0.85em] break-all hover:underline"
      >
        {id}
      </Link>
    ),
  },
  { title: 'State', cell: ({ status }) => <StateBadge state={status} />, onPhone: false },
  { title: 'Progress', cell: (batch) => <BatchBar batch={batch} /> },
  { title: 'Cost', align: 'right', cell: (batch) => <BatchCost batch={batch} /> },
  { title: 'Created', onPhone: false, cell: ({ created_at }) => <Time at={created_at} ago /> },
  { title: 'Act', isQuiet: true, onPhone: false, cell: (batch) => <CancelBatch batch={batch} /> },
];

import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import type { Call, List } from '../../api/types.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { Empty } from '../../parts/empty.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

const PATH = '/v1/management/requests';
const SHOWN = 8;

const COLUMNS: readonly Column<Call>[] = [
  { title: 'When', cell: ({ date }) => <Time at={date} ago /> },
  { title: 'Model', cell: ({ logical_model }) => logical_model ?? '–' },
  { title: 'Outcome', cell: ({ outcome }) => <StateBadge state={outcome} /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money usd={amount} /> },
];

/** The last calls of a key, each a link to its timeline, and a link to all of them. */
export function KeyRequests({ id }: { id: string }) {
  const navigate = useNavigate();
  const query = { api_key_id: id, limit: SHOWN };
  const calls = useQuery({
    queryKey: ['requests', 'of-key', id],
    queryFn: ({ signal }) => api.get<List<Call>>(PATH, query, signal),
  });
  return (
    <>
      <Loaded query={calls} height="h-40">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No calls yet">
              Each call with this key appears here within a second, with its money and its timeline.
            </Empty>
          ) : (
            <Table
              caption="Last requests of the key"
              columns={COLUMNS}
              rows={data}
              keyOf={({ request_id }) => request_id}
              onOpen={({ request_id }) =>
                navigate({ to: '/usage/requests/$id', params: { id: request_id } })
              }
            />
          )
        }
      </Loaded>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <GoLink to="/usage/requests" query={{ api_key_id: id }}>
          All requests of this key
        </GoLink>
        <ApiCall path={PATH} query={query} />
      </div>
    </>
  );
}

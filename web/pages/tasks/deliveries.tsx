import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Delivery, List, Task } from '../../api/types.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useHere } from '../../shell/here.ts';
import { Redeliver } from '../access/webhooks/redeliver.tsx';

const PATH = '/v1/management/webhook-deliveries';
/** How often a webhook that is being sent is read again, ms. */
const REFRESH_MS = 2_000;

/** The webhook of a task: each attempt to deliver it, and a button that sends it again. */
export function Deliveries({ task }: { task: Task }) {
  const query = useQuery({
    queryKey: ['tasks', 'deliveries', task.id],
    queryFn: ({ signal }) => api.get<List<Delivery>>(PATH, { task_id: task.id }, signal),
    enabled: task.webhook !== null,
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ status }) => status === 'pending') ? REFRESH_MS : false,
  });
  if (!task.webhook) {
    return (
      <Section title="Webhook">
        <p className="text-sm text-soft">
          Nobody is told when this task ends. A call with <code>webhook_url</code> tells a server.
        </p>
      </Section>
    );
  }
  const { url } = task.webhook;
  return (
    <Section title="Webhook">
      <p className="text-sm break-all">
        To <bdi>{url}</bdi>
      </p>
      <Loaded query={query} height="h-24">
        {({ data }) =>
          data[0] ? (
            <OneDelivery delivery={data[0]} />
          ) : (
            <p className="text-sm text-soft">It is sent when the task has ended.</p>
          )
        }
      </Loaded>
      <ApiCall path={PATH} query={{ task_id: task.id }} />
    </Section>
  );
}

function OneDelivery({ delivery }: { delivery: Delivery }) {
  const { may } = useHere();
  const { status, attempts, attempt_log, next_attempt_at, redeliveries } = delivery;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <StateBadge state={status} />
        <span className="text-sm text-soft">
          {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
          {redeliveries > 0 ? `, sent again ${redeliveries} times` : ''}
          {next_attempt_at ? (
            <>
              , next <Time at={next_attempt_at} ago />
            </>
          ) : null}
        </span>
        {may('tasks.write') && status !== 'pending' ? <Redeliver of={delivery} /> : null}
      </div>
      {attempt_log.length === 0 ? null : (
        <Table
          caption="Attempts to deliver the webhook"
          rows={attempt_log}
          keyOf={({ at }) => at}
          columns={[
            { title: 'At', cell: ({ at }) => <Time at={at} /> },
            {
              title: 'Status',
              align: 'right',
              cell: ({ status: code }) => (code === 0 ? 'no answer' : code),
            },
            { title: 'Why', cell: ({ reason }) => reason ?? '' },
          ]}
        />
      )}
    </>
  );
}

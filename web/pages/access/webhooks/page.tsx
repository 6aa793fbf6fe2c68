import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Delivery } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Attempts, answerOf } from '../../../parts/attempts.tsx';
import { StateBadge } from '../../../parts/badge.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { GoLink } from '../../../parts/go-link.tsx';
import { useListPages } from '../../../parts/list-pages.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time.tsx';
import { useHere } from '../../../shell/here.ts';
import { AccessPage } from '../access-page.tsx';
import { Redeliver } from './redeliver.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

const PATH = '/v1/management/webhook-deliveries';
const STATES = ['pending', 'delivered', 'failed'] as const;

/** Do our servers hear when a task ends? */
export function WebhooksPage() {
  const { state } = useSearch({ from: '/inside/access/webhooks' });
  const navigate = useNavigate();
  const { may } = useHere();
  const filter = { ...(state ? { state } : {}), limit: 50 };
  return (
    <AccessPage
      at="/access/webhooks"
      question="Do our servers learn when a task ends?"
      call={<ApiCall path={PATH} query={filter} />}
    >
      {may('webhooks.secret') ? <WebhookSecret /> : null}
      <Section
        title="Deliveries"
        acts={
          <label className="flex items-center gap-2 text-sm text-soft">
            State
            <select
              className="control w-auto!"
              value={state ?? ''}
              onChange={({ target: { value } }) =>
                navigate({
                  to: '/access/webhooks',
                  search: STATES.includes(value as never)
                    ? { state: value as (typeof STATES)[number] }
                    : {},
                  replace: true,
                })
              }
            >
              <option value="">any</option>
              {STATES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        }
      >
        <Deliveries filter={filter} />
      </Section>
    </AccessPage>
  );
}

const EXAMPLE = `curl ${location.origin}/v1/videos/generations \\
  -H "Authorization: Bearer $WEIR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"…","prompt":"A lighthouse in a storm","webhook_url":"https://example.com/weir"}'`;

function Deliveries({ filter }: { filter: { state?: string; limit: number } }) {
  const key = ['tasks', 'deliveries', filter.state ?? 'any'];
  const { query, more } = useListPages<Delivery>(key, PATH, filter);
  return (
    <>
      <Loaded query={query} height="h-40">
        {(deliveries) =>
          deliveries.length === 0 ? (
            <Empty
              title={filter.state ? `No delivery is ${filter.state}` : 'No deliveries yet'}
              command={filter.state ? undefined : EXAMPLE}
            >
              A call that creates a task may name a webhook. Weir sends the task there when it ends,
              and tries again for a while if the server does not answer.
            </Empty>
          ) : (
            <ol className="divide-y divide-line rounded-box border border-line bg-card">
              {deliveries.map((delivery) => (
                <DeliveryLine key={delivery.id} of={delivery} />
              ))}
            </ol>
          )
        }
      </Loaded>
      {more}
    </>
  );
}

function DeliveryLine({ of: delivery }: { of: Delivery }) {
  const { task_id, url, status, attempts, last_status, next_attempt_at, created_at } = delivery;
  const canSend = useHere().may('tasks.write');
  return (
    <li className="grid gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <span className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <StateBadge state={status} />
          <GoLink to={`/tasks/${task_id}`} className="font-mono text-[0.88em] break-all">
            {task_id}
          </GoLink>
          <span className="text-soft">
            <Time at={created_at} ago />
          </span>
        </span>
        {canSend && status !== 'pending' ? <Redeliver of={delivery} /> : null}
      </div>
      <p className="min-w-0 text-sm break-all text-soft">
        {url}
        <br />
        {attempts === 1 ? '1 attempt' : `${attempts} attempts`}, last{' '}
        {last_status === null ? 'not made yet' : answerOf(last_status)}
        {next_attempt_at === null ? null : (
          <>
            , next <Time at={next_attempt_at} ago />
          </>
        )}
      </p>
      <Attempts log={delivery.attempt_log} id={delivery.id} />
    </li>
  );
}

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import type { Task } from '../../api/types.ts';
import { ResultFile } from '../../media/result-file.tsx';
import { ApiCall } from '../../parts/api-call.tsx';
import { Copy } from '../../parts/copy.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { duration, fromNow, Time, useNow } from '../../parts/time.tsx';
import { Missing } from '../../shell/missing.tsx';
import { Deliveries } from './deliveries.tsx';
import { CancelTask, isRunning, TaskCost, TaskState } from './task-parts.tsx';

/** How often a task that runs is read again, ms. */
const PROGRESS_MS = 1_000;

/** One task: how far it is, what it made, what it cost, and who was told. */
export function TaskPage() {
  const { id } = useParams({ from: '/inside/tasks/$id' });
  const path = `/v1/management/tasks/${encodeURIComponent(id)}`;
  const query = useQuery({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => api.get<Task>(path, {}, signal),
    refetchInterval: ({ state: { data } }) => (data && isRunning(data) ? PROGRESS_MS : false),
  });
  if (query.error instanceof ApiError && query.error.status === 404) return <Missing />;
  const task = query.data;
  return (
    <Page
      title={task ? `Task: ${task.scene}` : 'Task'}
      question={<Copy text={id} what="task id" />}
      acts={task ? <CancelTask task={task} /> : null}
      call={<ApiCall path={path} />}
    >
      <Loaded query={query} height="h-96">
        {(loaded) => (
          <>
            <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
              <Card>
                <h2 className="mb-1 text-sm text-soft">State</h2>
                <TaskState task={loaded} />
              </Card>
              <Card>
                <h2 className="mb-1 text-sm text-soft">Cost</h2>
                <span className="text-xl">
                  <TaskCost task={loaded} />
                </span>
              </Card>
              <Card>
                <h2 className="mb-1 text-sm text-soft">Model</h2>
                <GoLink to={`/models/${encodeURIComponent(loaded.model)}`}>
                  <bdi>{loaded.model}</bdi>
                </GoLink>
              </Card>
            </div>
            <Result task={loaded} />
            <Section title="What happened">
              <Moments task={loaded} />
            </Section>
            <Deliveries task={loaded} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Result({ task }: { task: Task }) {
  const { status, error, outputs, cancellation, progress, deadline_at, scene } = task;
  const now = useNow(1_000);
  if (isRunning(task)) {
    return (
      <Section title="Result">
        <div aria-live="polite" className="grid gap-2 rounded-box border border-line bg-card p-4">
          <ProgressBar label="Progress" percent={progress} />
          <p className="text-sm text-soft">
            {cancellation?.message ??
              `The ${scene} is being made. The task fails, and costs nothing, unless it ends ${fromNow(Date.parse(deadline_at), now)}.`}
          </p>
        </div>
      </Section>
    );
  }
  return (
    <Section title="Result">
      {status === 'failed' && error ? (
        <div role="alert" className="rounded-box border border-bad bg-bad-soft px-4 py-3">
          <p className="font-medium text-bad">{error.message}</p>
          <p className="text-soft">
            {cancellation?.message ?? 'Nothing is charged.'} <code>{error.code}</code>
          </p>
        </div>
      ) : null}
      {cancellation?.state === 'too_late' ? <p>{cancellation.message}</p> : null}
      {outputs.map((output, at) => {
        const title = output.title ?? `Result ${at + 1}`;
        return (
          <div key={output.url?.split('?')[0] ?? title} className="grid gap-2">
            {output.title === null ? null : (
              <h3 className="font-medium">
                <bdi>{output.title}</bdi>
              </h3>
            )}
            {output.url === null ? null : <ResultFile url={output.url} title={title} />}
            {output.text === null ? null : (
              <p className="max-w-prose rounded-box border border-line bg-card p-4 whitespace-pre-wrap">
                {output.text}
              </p>
            )}
            <p className="text-sm text-soft">
              {[
                output.width && output.height ? `${output.width} × ${output.height}` : '',
                output.duration === null ? '' : duration(output.duration * 1_000),
              ]
                .filter(Boolean)
                .join(', ')}
            </p>
          </div>
        );
      })}
    </Section>
  );
}

/** The moments of a task, the earliest first. */
function Moments({ task }: { task: Task }) {
  const { created_at, deadline_at, ended_at, cancellation, status, request_id } = task;
  const took = ended_at === null ? undefined : Date.parse(ended_at) - Date.parse(created_at);
  const moments: { what: string; at: string; note?: string }[] = [
    { what: 'Created', at: created_at },
    ...(cancellation
      ? [{ what: 'Cancel requested', at: cancellation.requested_at, note: cancellation.message }]
      : []),
    ended_at === null
      ? { what: 'Ends at the latest', at: deadline_at }
      : {
          what: status === 'completed' ? 'Completed' : 'Failed',
          at: ended_at,
          note: took === undefined ? '' : `after ${duration(took)}`,
        },
  ];
  return (
    <ol className="grid gap-2 border-l-2 border-line pl-4">
      {moments.map(({ what, at, note }) => (
        <li key={what} className="flex flex-wrap gap-x-3">
          <span className="min-w-36 font-medium">{what}</span>
          <Time at={at} />
          {note ? <span className="text-soft">{note}</span> : null}
        </li>
      ))}
      <li className="text-sm text-soft">
        <GoLink to={`/actors/task/${encodeURIComponent(task.id)}`}>Every step of it</GoLink>, with
        the money that moved. Its call:{' '}
        <GoLink to={`/usage/requests/${request_id}`}>{request_id}</GoLink>
        {task.billing_transaction_id === null ? null : (
          <>
            , charged as <Copy text={task.billing_transaction_id} what="billing transaction id" />
          </>
        )}
      </li>
    </ol>
  );
}

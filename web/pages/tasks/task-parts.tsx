import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Task } from '../../api/types.ts';
import { StateBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Money } from '../../parts/money.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { useHere } from '../../shell/here.ts';

/** True while a task may still change. */
export const isRunning = ({ status }: Pick<Task, 'status'>): boolean =>
  status === 'pending' || status === 'processing';

/** The state of a task: its progress while it runs, and what became of it after that. */
export function TaskState({ task }: { task: Task }) {
  const { status, progress, cancellation } = task;
  if (cancellation?.state === 'requested') return <StateBadge state="canceling" />;
  if (cancellation?.state === 'canceled') return <StateBadge state="canceled" />;
  return (
    <span className="grid gap-1">
      <span>
        <StateBadge state={status} />
      </span>
      {status === 'processing' ? (
        <ProgressBar label={`Progress of ${task.id}`} percent={progress} />
      ) : null}
    </span>
  );
}

/** What a task cost, or what it holds while it runs. */
export function TaskCost({ task: { charged_amount, held_amount } }: { task: Task }) {
  if (charged_amount !== null) return <Money usd={charged_amount} />;
  return (
    <span title="Held until the task ends. It then pays the price of what was made.">
      <Money usd={held_amount} /> <span className="text-sm text-soft">held</span>
    </span>
  );
}

/** Cancels a task, after a question that says what it means for the money. */
export function CancelTask({ task }: { task: Task }) {
  const { may } = useHere();
  const queries = useQueryClient();
  const [isAsking, ask] = useState(false);
  if (!may('tasks.write') || !isRunning(task) || task.cancellation) return null;
  const cancel = async () => {
    await api.post(`/v1/management/tasks/${encodeURIComponent(task.id)}/cancel`);
    await queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  return (
    <>
      <Button kind="danger" onClick={() => ask(true)} aria-label={`Cancel ${task.id}`}>
        Cancel…
      </Button>
      {isAsking ? (
        <Confirm
          title={`Cancel this ${task.scene}?`}
          label="Cancel the task"
          act={cancel}
          onClose={() => ask(false)}
        >
          <p>
            Weir asks the provider to stop. If nothing was made, nothing is charged, and{' '}
            <Money usd={task.held_amount} /> return to the key.
          </p>
          <p className="text-soft">
            If the result exists before the provider stops, it is delivered and charged.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

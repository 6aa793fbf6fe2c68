import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, send } from '../../api/client.ts';
import type { Batch } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Money } from '../../parts/money.tsx';
import { useHere } from '../../shell/here.ts';

/** How often batches that run are read again, ms. */
export const PROGRESS_MS = 2_000;

/** True while a batch has items without a result. */
export const isRunning = ({ status }: Pick<Batch, 'status'>): boolean => status !== 'ended';

const PARTS = [
  { name: 'succeeded', color: 'bg-accent' },
  { name: 'errored', color: 'bg-bad' },
  { name: 'expired', color: 'bg-warn' },
  { name: 'canceled', color: 'bg-edge' },
] as const;

/** The results of a batch so far, as parts of a bar. */
export function BatchBar({ batch: { id, progress } }: { batch: Batch }) {
  const { total, remaining } = progress;
  const done = total - remaining;
  return (
    <span className="grid min-w-32 gap-1">
      <span
        role="progressbar"
        aria-label={`Progress of ${id}`}
        aria-valuenow={done}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuetext={`${done} of ${total} requests`}
        className="flex h-1.5 overflow-hidden rounded-full bg-sunk"
      >
        {PARTS.map(({ name, color }) => (
          <span
            key={name}
            className={`${color} transition-[width]`}
            style={{ width: `${total === 0 ? 0 : (progress[name] / total) * 100}%` }}
          />
        ))}
      </span>
      <span className="text-sm figures text-soft">
        {done.toLocaleString()} of {total.toLocaleString()}
        {progress.errored > 0 ? `, ${progress.errored.toLocaleString()} errored` : ''}
      </span>
    </span>
  );
}

/** Cancels a batch, after a question that says what still runs. */
export function CancelBatch({ batch }: { batch: Batch }) {
  const { may } = useHere();
  const queries = useQueryClient();
  const [isAsking, ask] = useState(false);
  if (!may('tasks.write') || batch.status !== 'in_progress') return null;
  const cancel = async () => {
    await api.post(`/v1/management/batches/${encodeURIComponent(batch.id)}/cancel`);
    await queries.invalidateQueries({ queryKey: ['batches'] });
  };
  return (
    <>
      <Button kind="danger" onClick={() => ask(true)} aria-label={`Cancel ${batch.id}`}>
        Cancel…
      </Button>
      {isAsking ? (
        <Confirm
          title="Cancel this batch?"
          label="Cancel the batch"
          act={cancel}
          onClose={() => ask(false)}
        >
          <p>
            {batch.progress.remaining.toLocaleString()} requests have no result yet. Those that have
            not started do not run and cost nothing. Those that run end, and are charged.
          </p>
          <p className="text-soft">The results so far stay, and can be downloaded.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** Downloads the results of a batch, one JSON object a line. */
export function Results({ batch: { id, results_path, status } }: { batch: Batch }) {
  const { may } = useHere();
  const { act, isBusy, error } = useAct();
  if (results_path === null) {
    return (
      <p className="text-sm text-soft">
        {status === 'ended'
          ? 'The results are no longer kept.'
          : 'The results can be downloaded when the batch has ended.'}
      </p>
    );
  }
  if (!may('results.read')) {
    return <p className="text-sm text-soft">A member of the organization can download them.</p>;
  }
  const download = async () => {
    const path = `/v1/management/batches/${encodeURIComponent(id)}/results`;
    const answer = await send('GET', path);
    const address = URL.createObjectURL(await answer.blob());
    const link = Object.assign(document.createElement('a'), {
      href: address,
      download: `${id}.jsonl`,
    });
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <div className="grid justify-items-start gap-2">
      <Button busy={isBusy} onClick={() => act(download)}>
        Download the results
      </Button>
      {error ? <ErrorNote error={error} /> : null}
    </div>
  );
}

/** What the ended items of a batch cost so far. */
export function BatchCost({ batch: { charged_amount } }: { batch: Batch }) {
  return <Money usd={charged_amount} />;
}

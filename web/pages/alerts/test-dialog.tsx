import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { AlertDelivery, AlertEndpoint } from '../../api/types.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { answerOf } from '../../parts/attempts.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { endpointPath, rereadAlerts } from './data.ts';

/** A test of an endpoint. It begins with `mutate`, and ends with the first attempt. */
export function useEndpointTest({ id }: AlertEndpoint) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => api.post<AlertDelivery>(endpointPath(id, '/test')),
    onSettled: () => rereadAlerts(queries),
  });
}

interface TestDialogProps {
  readonly of: AlertEndpoint;
  readonly test: ReturnType<typeof useEndpointTest>;
}

/** Says what a receiver answered to a test. */
export function TestDialog({ of: { id, name, type }, test }: TestDialogProps) {
  const { data, error, isPending, mutate, reset } = test;
  return (
    <Dialog
      title={
        <>
          Test of <bdi>{name}</bdi>
        </>
      }
      onClose={reset}
    >
      <div aria-live="polite" className="grid gap-2">
        {isPending ? <p className="text-soft">Weir sends an alert of the kind test…</p> : null}
        {error ? <ErrorNote error={error} /> : null}
        {data ? <Answered delivery={data} isMail={type === 'mail'} /> : null}
      </div>
      <ApiCall method="POST" path={endpointPath(id, '/test')} body={{}} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button busy={isPending} onClick={() => mutate()}>
          Test again
        </Button>
        <Button data-first kind="primary" onClick={reset}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function Answered({ delivery, isMail }: { delivery: AlertDelivery; isMail: boolean }) {
  const { status, last_status, attempt_log } = delivery;
  const reason = attempt_log.at(-1)?.reason;
  return (
    <>
      <p>
        <StateBadge state={status} />
      </p>
      <p>
        {last_status === null
          ? 'The first attempt has not ended yet. The deliveries below show how it ends.'
          : `The receiver: ${answerOf(last_status, isMail)}${reason ? `, ${reason}` : ''}.`}
      </p>
      {status === 'pending' && last_status !== null ? (
        <p className="text-soft">Weir tries it again for about eleven hours.</p>
      ) : null}
    </>
  );
}

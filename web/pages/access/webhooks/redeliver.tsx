import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Delivery } from '../../../api/types.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { say } from '../../../parts/said.tsx';

/** When the list is read again after a webhook was sent, ms. No event says that the server has answered. */
const READ_AGAIN_MS = [500, 1_500, 4_000, 10_000];

/** Sends a webhook again. It asks first if the server has it already. */
export function Redeliver({ of: { id, status, task_id } }: { of: Delivery }) {
  const queries = useQueryClient();
  const [isAsking, ask] = useState(false);
  const send = async () => {
    await api.post(`/v1/management/webhook-deliveries/${id}/redeliver`);
    const readAgain = () => queries.invalidateQueries({ queryKey: ['tasks'] });
    await readAgain();
    for (const ms of READ_AGAIN_MS) setTimeout(readAgain, ms);
    say(`The webhook of ${task_id} is sent again.`);
  };
  return (
    <>
      <Button aria-label={`Send again the webhook of ${task_id}`} onClick={() => ask(true)}>
        Send again…
      </Button>
      {isAsking ? (
        <Confirm
          title="Send the webhook again?"
          label="Send it again"
          act={send}
          onClose={() => ask(false)}
        >
          <p>
            {status === 'delivered'
              ? 'The server took it already, and gets it once more: with the same body and webhook-id, and a new signature.'
              : 'The server gets the same body and webhook-id, with a new signature.'}
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { AlertDelivery } from '../../api/types.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { say } from '../../parts/said.tsx';
import { DELIVERIES_PATH, rereadAlerts } from './data.ts';
import { kindName } from './kinds.ts';

interface SendAgainProps {
  readonly of: AlertDelivery;
  /** The name of the endpoint. */
  readonly to: string;
}

/** Sends an alert again after a confirmation. */
export function SendAgain({ of: { id, kind, status }, to }: SendAgainProps) {
  const queries = useQueryClient();
  const [isAsking, ask] = useState(false);
  const send = async () => {
    await api.post(`${DELIVERIES_PATH}/${encodeURIComponent(id)}/redeliver`);
    await rereadAlerts(queries);
    say(`The alert is sent to ${to} again.`);
  };
  return (
    <>
      <Button aria-label={`Send again ${kindName(kind)} to ${to}`} onClick={() => ask(true)}>
        Send again…
      </Button>
      {isAsking ? (
        <Confirm
          title="Send the alert again?"
          label="Send it again"
          act={send}
          onClose={() => ask(false)}
        >
          <p>
            {status === 'delivered'
              ? 'The receiver took it already, and gets it once more: with the same body and id, and a new signature.'
              : 'The receiver gets the same body and id, with a new signature, at its present address.'}
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { AlertEndpoint } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { useOnce } from '../../parts/once.ts';
import { say } from '../../parts/said.tsx';
import { endpointPath, rereadAlerts } from './data.ts';
import { EndpointSecret } from './endpoint-secret.tsx';

interface ActProps {
  readonly of: AlertEndpoint;
  readonly onClose: () => void;
}

/** Switches an endpoint off or on, with undo. */
export function useSwitch({ id, name, enabled }: AlertEndpoint) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>();
  const set = async (value: boolean, etag?: string) => {
    const answer = await api.patchTagged<AlertEndpoint>(endpointPath(id), { enabled: value }, etag);
    await rereadAlerts(queries);
    return answer;
  };
  const flip = async () => {
    try {
      const { etag } = await set(!enabled);
      const says = enabled ? 'receives no new alerts' : 'receives alerts again';
      say(`“${name}” ${says}.`, () => set(enabled, etag));
    } catch (failure) {
      setError(failure);
    }
  };
  return {
    flip,
    failure: error ? (
      <Dialog title="The endpoint was not changed" onClose={() => setError(undefined)}>
        <ErrorNote error={error} />
      </Dialog>
    ) : null,
  };
}

/** Removes an endpoint after a confirmation. */
export function RemoveEndpoint({ of: { id, name }, onClose }: ActProps) {
  const queries = useQueryClient();
  const work = async () => {
    await api.delete(endpointPath(id));
    await rereadAlerts(queries);
    say(`“${name}” is removed.`);
  };
  return (
    <Confirm
      title={
        <>
          Remove <bdi>{name}</bdi>?
        </>
      }
      label="Remove the endpoint"
      act={work}
      onClose={onClose}
    >
      <p>No alert goes there any more. Deliveries that wait for an attempt fail.</p>
      <p className="text-soft">The alerts stay in the list. To pause it, switch it off instead.</p>
    </Confirm>
  );
}

/** Replaces the secret of a webhook, and shows the new one once. */
export function RotateSecret({ of: { id, name }, onClose }: ActProps) {
  const [secret, setSecret] = useState<string>();
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const rotate = () =>
    act(async () => {
      const path = endpointPath(id, '/rotate');
      setSecret((await api.post<AlertEndpoint>(path, {}, once(path))).secret);
    });
  if (secret !== undefined) {
    return (
      <Dialog title="The new secret" wide dismissible={false} onClose={onClose}>
        <EndpointSecret name={name} secret={secret} onKept={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title={
        <>
          Rotate the secret of <bdi>{name}</bdi>?
        </>
      }
      onClose={onClose}
    >
      <p>
        All later attempts are signed with the new secret. A receiver that still checks the old one
        refuses them, until you give it the new one. Weir tries refused alerts again.
      </p>
      {error ? <ErrorNote error={error} /> : null}
      <div className="flex flex-wrap justify-end gap-2">
        <Button data-first onClick={onClose}>
          Cancel
        </Button>
        <Button kind="danger" busy={isBusy} onClick={rotate}>
          Rotate the secret
        </Button>
      </div>
    </Dialog>
  );
}

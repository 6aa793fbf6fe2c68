import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import type { AlertEndpoint } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { isShownBeside } from '../../parts/field.tsx';
import { say } from '../../parts/said.tsx';
import { endpointPath, rereadAlerts } from './data.ts';
import {
  ENDPOINT_PARAMS,
  EndpointFields,
  type EndpointForm,
  targetOf,
} from './endpoint-fields.tsx';

const formOf = ({ name, type, url, email, kinds }: AlertEndpoint): EndpointForm => ({
  ...{ name, type, target: url ?? email ?? '', kinds },
});

const bodyOf = (form: EndpointForm) => ({
  name: form.name,
  ...targetOf(form),
  kinds: form.kinds,
});

/** Changes the name, the address and the kinds of an endpoint, and offers to take it back. */
export function EditEndpointDialog({
  of: endpoint,
  onClose,
}: {
  of: AlertEndpoint;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  // What the person began with does not follow the list.
  const [before] = useState(() => formOf(endpoint));
  const [form, setForm] = useState(before);
  const { act, isBusy, error } = useAct();
  const path = endpointPath(endpoint.id);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const { value, etag } = await api.patchTagged<AlertEndpoint>(path, bodyOf(form));
      await rereadAlerts(queries);
      say(`“${value.name}” is changed.`, async () => {
        await api.patch(path, bodyOf(before), etag);
        await rereadAlerts(queries);
      });
      onClose();
    });
  };
  return (
    <Dialog
      title={
        <>
          Edit <bdi>{endpoint.name}</bdi>
        </>
      }
      onClose={onClose}
      dismissible={form === before}
    >
      <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {error && !isShownBeside(error, ENDPOINT_PARAMS) ? <ErrorNote error={error} /> : null}
        <EndpointFields form={form} onChange={setForm} error={error} />
        <p className="text-sm text-soft">Deliveries that wait go to the new address.</p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            busy={isBusy}
            disabled={form === before || form.kinds?.length === 0}
          >
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

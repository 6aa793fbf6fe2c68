import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import type { AlertEndpoint } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { isShownBeside } from '../../parts/field.tsx';
import { useOnce } from '../../parts/once.ts';
import { say } from '../../parts/said.tsx';
import { ENDPOINTS_PATH, rereadAlerts } from './data.ts';
import {
  ENDPOINT_PARAMS,
  EndpointFields,
  type EndpointForm,
  targetOf,
} from './endpoint-fields.tsx';
import { EndpointSecret } from './endpoint-secret.tsx';

const NEW: EndpointForm = { name: '', type: 'webhook', target: '', kinds: undefined };

/** Adds an endpoint. The secret of a webhook is shown once. */
export function NewEndpointDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [form, setForm] = useState(NEW);
  const [secret, setSecret] = useState<string>();
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const { name, type, kinds } = form;
      const body = { name, type, ...targetOf(form), ...(kinds ? { kinds } : {}) };
      const made = await api.post<AlertEndpoint>(ENDPOINTS_PATH, body, once(body));
      await rereadAlerts(queries);
      if (made.secret !== undefined) return setSecret(made.secret);
      say(`“${made.name}” receives alerts from now on.`);
      onClose();
    });
  };
  if (secret !== undefined) {
    return (
      <Dialog title="The secret of the webhook" wide dismissible={false} onClose={onClose}>
        <EndpointSecret name={form.name} secret={secret} onKept={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Add an endpoint" onClose={onClose} dismissible={form === NEW}>
      <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {error && !isShownBeside(error, ENDPOINT_PARAMS) ? <ErrorNote error={error} /> : null}
        <EndpointFields form={form} onChange={setForm} error={error} isNew />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={form.kinds?.length === 0}>
            Add the endpoint
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

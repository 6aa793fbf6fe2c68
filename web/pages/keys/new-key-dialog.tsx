import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import type { ApiKey } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { isShownBeside } from '../../parts/field.tsx';
import { useOnce } from '../../parts/once.ts';
import { rereadKeys } from './key-data.ts';
import { KeyFields } from './key-fields.tsx';
import { changesOf, type KeyForm, NEW_KEY, PARAMS } from './key-form.ts';
import { KeySecret } from './key-secret.tsx';
import { paramsOf } from './limits.ts';

/** The parameters that a field shows the error of. */
export function shownBeside({ limits }: KeyForm): string[] {
  const lists: string[] = [PARAMS.models, PARAMS.limits];
  return [...Object.values(PARAMS).filter((param) => !lists.includes(param)), ...paramsOf(limits)];
}

/** Creates a key, and then shows its secret, which no other answer has. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [form, setForm] = useState(NEW_KEY);
  const [made, setMade] = useState<ApiKey & { readonly key: string }>();
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const { data: balance } = useQuery({
    queryKey: ['balance'],
    queryFn: ({ signal }) => api.get<{ available: number }>('/v1/management/balance', {}, signal),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const body = { name: form.name.trim() || 'Default Key', ...changesOf(NEW_KEY, form) };
      setMade(await api.post('/v1/management/api-keys', body, once(body)));
      await rereadKeys(queries);
    });
  };
  if (made) {
    return (
      <Dialog title="Your new key" wide dismissible={false} onClose={onClose}>
        <KeySecret secret={made.key} models={made.models} onKept={onClose}>
          <p>
            <bdi className="font-medium">{made.name}</bdi> works now.{' '}
            {made.limit_amount === null ? 'It has no cap.' : 'It stops at its cap.'}
          </p>
        </KeySecret>
      </Dialog>
    );
  }
  return (
    <Dialog title="Create an API key" onClose={onClose} dismissible={form === NEW_KEY}>
      <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {error && !isShownBeside(error, shownBeside(form)) ? <ErrorNote error={error} /> : null}
        <KeyFields form={form} onChange={setForm} error={error} available={balance?.available} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Create the key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

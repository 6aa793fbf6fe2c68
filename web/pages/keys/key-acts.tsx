import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { api } from '../../api/client.ts';
import type { ApiKey, RunningCall } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Field } from '../../parts/field.tsx';
import { Grace } from '../../parts/grace.tsx';
import type { MenuAct } from '../../parts/menu.tsx';
import { useOnce } from '../../parts/once.ts';
import { say } from '../../parts/said.tsx';
import { localTime } from '../../parts/time.tsx';
import { changeKey, keyPath, rereadKeys } from './key-data.ts';
import { KeySecret } from './key-secret.tsx';

type Open = 'rotate' | 'revoke' | 'delete';

interface KeyActs {
  /** What a person may do with the key now. */
  readonly acts: readonly MenuAct[];
  /** The dialog of the act that was chosen. */
  readonly dialog: ReactNode;
}

/** The acts on a key, and the dialog of the one that was chosen. Pausing and resuming can be undone. */
export function useKeyActs(key: ApiKey | undefined, onDeleted?: () => void): KeyActs {
  const queries = useQueryClient();
  const [open, setOpen] = useState<Open>();
  const [failure, setFailure] = useState<unknown>();
  const close = () => setOpen(undefined);
  if (!key || key.deleted_at !== undefined) return { acts: [], dialog: null };
  const setStatus = (status: ApiKey['status'], said: string) =>
    changeKey(queries, key, { status }, { said }).catch(setFailure);
  const isRevoked = key.status === 'revoked';
  const acts: MenuAct[] = [
    ...(isRevoked
      ? []
      : [
          key.status === 'active'
            ? { label: 'Pause', act: () => setStatus('inactive', `“${key.name}” is paused.`) }
            : { label: 'Resume', act: () => setStatus('active', `“${key.name}” works again.`) },
          ...(key.status === 'active' ? [{ label: 'Rotate…', act: () => setOpen('rotate') }] : []),
          { label: 'Revoke…', act: () => setOpen('revoke'), isDanger: true },
        ]),
    { label: 'Delete…', act: () => setOpen('delete'), isDanger: true },
  ];
  return {
    acts,
    dialog: (
      <>
        {open === 'rotate' ? <RotateDialog of={key} onClose={close} /> : null}
        {open === 'revoke' || open === 'delete' ? (
          <EndDialog of={key} act={open} onClose={close} onDeleted={onDeleted} />
        ) : null}
        {failure ? (
          <Dialog title="The key was not changed" onClose={() => setFailure(undefined)}>
            <ErrorNote error={failure} />
          </Dialog>
        ) : null}
      </>
    ),
  };
}

function EndDialog({
  of: key,
  act,
  onClose,
  onDeleted,
}: {
  of: ApiKey;
  act: 'revoke' | 'delete';
  onClose: () => void;
  onDeleted: (() => void) | undefined;
}) {
  const queries = useQueryClient();
  const { data: running } = useQuery({
    queryKey: ['calls', 'of-key', key.id],
    queryFn: async ({ signal }) => {
      const { data } = await api.get<{ data: RunningCall[] }>('/v1/management/calls', {}, signal);
      return data.filter(({ api_key_id }) => api_key_id === key.id).length;
    },
  });
  const work = async () => {
    if (act === 'delete') await api.delete(keyPath(key.id));
    else await api.patch(keyPath(key.id), { status: 'revoked' });
    if (act === 'delete') onDeleted?.();
    await rereadKeys(queries);
    say(`“${key.name}” is ${act === 'delete' ? 'deleted' : 'revoked'}.`);
  };
  return (
    <Confirm
      title={
        <>
          {act === 'delete' ? 'Delete' : 'Revoke'} <bdi>{key.name}</bdi>?
        </>
      }
      label={act === 'delete' ? 'Delete the key' : 'Revoke the key'}
      act={work}
      onClose={onClose}
    >
      {key.status === 'revoked' ? (
        <p>It is revoked already, so no call breaks.</p>
      ) : (
        <>
          <p>{inFlight(running)} New calls with this key get 401. It cannot be made valid again.</p>
          {key.last_used_at === null ? (
            <p>The key was never used.</p>
          ) : (
            <p>It was last used on {localTime(key.last_used_at)}.</p>
          )}
        </>
      )}
      {act === 'delete' ? (
        <p className="text-soft">It leaves the list. What it spent stays in Usage and Billing.</p>
      ) : (
        <p className="text-soft">It stays in the list. To stop it for a while, pause it instead.</p>
      )}
    </Confirm>
  );
}

function inFlight(running: number | undefined): string {
  if (running === undefined) return 'Calls in flight finish, and are charged.';
  if (running === 0) return 'No call is in flight.';
  return running === 1
    ? '1 call in flight finishes, and is charged.'
    : `${running} calls in flight finish, and are charged.`;
}

function RotateDialog({ of: key, onClose }: { of: ApiKey; onClose: () => void }) {
  const queries = useQueryClient();
  const [grace_s, setGrace] = useState(86_400);
  const [made, setMade] = useState<ApiKey & { readonly key: string }>();
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const body = { grace_s };
      setMade(await api.post(keyPath(key.id, '/rotate'), body, once(body)));
      await rereadKeys(queries);
    });
  };
  if (made) {
    const until = made.previous_key_expires_at;
    return (
      <Dialog title="The new key" wide dismissible={false} onClose={onClose}>
        <KeySecret secret={made.key} models={made.models} onKept={onClose}>
          <p>
            It has the cap, the usage and the settings of the old one.{' '}
            {grace_s > 0 && until !== undefined
              ? `The old one works until ${localTime(until)}.`
              : 'The old one has ended.'}
          </p>
        </KeySecret>
      </Dialog>
    );
  }
  return (
    <Dialog
      title={
        <>
          Rotate <bdi>{key.name}</bdi>
        </>
      }
      onClose={onClose}
    >
      <form onSubmit={submit} className="grid gap-4">
        <p>
          A new secret takes the place of the old one. The key keeps its id, its cap and its usage.
        </p>
        {error ? <ErrorNote error={error} /> : null}
        <Field
          label="The old secret works"
          param="grace_s"
          error={error}
          why="Until then both work, so that programs can change over. Afterwards the old one gets 401."
        >
          <Grace value={grace_s} onChange={setGrace} />
        </Field>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Rotate the key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { mayAssign, ROLES, type Role } from '../../../../src/access/actions.ts';
import { api } from '../../../api/client.ts';
import type { Invitation } from '../../../api/types.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { Field, isShownBeside } from '../../../parts/field.tsx';
import { useOnce } from '../../../parts/once.ts';
import { Secret } from '../../../parts/secret.tsx';
import { localTime } from '../../../parts/time.tsx';
import { useHere } from '../../../shell/here.ts';
import { ROLE_SAYS } from './roles.tsx';

/** Invites a person. The link is mailed, or shown once if Weir sends no mails. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { organization } = useHere();
  const queries = useQueryClient();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [made, setMade] = useState<Invitation & { readonly url?: string }>();
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const body = { email: email.trim(), role };
      setMade(await api.post('/v1/management/invitations', body, once(body)));
      await queries.invalidateQueries({ queryKey: ['invitations'] });
    });
  };
  if (made) {
    return (
      <Dialog
        title={made.url === undefined ? 'The invitation is on its way' : 'Give this link on'}
        dismissible={made.url === undefined}
        onClose={onClose}
      >
        <p>
          {made.url === undefined
            ? 'A mail with a link went to '
            : 'Weir sends no mails here, so send the link yourself, to '}
          <bdi className="font-medium">{made.email}</bdi>. It works once, until{' '}
          {localTime(made.expires_at)}.
        </p>
        {made.url === undefined ? null : (
          <Secret
            secret={made.url}
            what="link"
            next="Whoever has it can use it, so send it only to this person."
          />
        )}
        <div className="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            {made.url === undefined ? 'Close' : 'I have kept the link'}
          </Button>
        </div>
      </Dialog>
    );
  }
  const rights = { member_role: organization?.role ?? 'viewer' } as const;
  return (
    <Dialog title="Invite a person" onClose={onClose} dismissible={email === ''}>
      <form onSubmit={submit} className="grid gap-4">
        {error && !isShownBeside(error, ['email', 'role']) ? <ErrorNote error={error} /> : null}
        <Field
          label="E-mail"
          param="email"
          error={error}
          why="The link works only for this address, once, and for a week."
        >
          <input
            className="control"
            type="email"
            required
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
        <Field label="Role" param="role" error={error} why="You can change it at any time.">
          <select
            className="control"
            value={role}
            onChange={(event) => setRole(event.target.value as Role)}
          >
            {ROLES.filter((each) => mayAssign(rights, each)).map((each) => (
              <option key={each} value={each}>
                {each}: {ROLE_SAYS[each]}
              </option>
            ))}
          </select>
        </Field>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Invite
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

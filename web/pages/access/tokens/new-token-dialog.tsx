import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { mayGrant, SCOPES, type TokenScope } from '../../../../src/access/actions.ts';
import { api } from '../../../api/client.ts';
import type { Token } from '../../../api/types.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { Field, isShownBeside } from '../../../parts/field.tsx';
import { useOnce } from '../../../parts/once.ts';
import { useHere } from '../../../shell/here.ts';
import { TokenSecret } from './token-secret.tsx';

const SCOPE_SAYS: Readonly<Record<TokenScope, string>> = {
  read: 'see keys, usage, tasks, people and the audit log',
  keys: 'create and change API keys',
  billing: 'see usage and money',
  admin: 'everything, also people and tokens',
};

/** Creates a management token, and then shows its secret, which no other answer has. */
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const { organization } = useHere();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly TokenScope[]>(['read']);
  const [expires, setExpires] = useState('');
  const [made, setMade] = useState<Token & { readonly token: string }>();
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const rights = { member_role: organization?.role ?? 'viewer' } as const;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const expiry = new Date(expires);
      const body = {
        name,
        scopes,
        ...(expires === '' || Number.isNaN(expiry.getTime())
          ? {}
          : { expiresAt: expiry.toISOString() }),
      };
      setMade(await api.post('/v1/management/tokens', body, once(body)));
      await queries.invalidateQueries({ queryKey: ['tokens'] });
    });
  };
  if (made) {
    return (
      <Dialog title="Your new token" wide dismissible={false} onClose={onClose}>
        <TokenSecret made={made} onKept={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Create a management token" onClose={onClose} dismissible={name === ''}>
      <form onSubmit={submit} className="grid gap-4">
        {error && !isShownBeside(error, ['name', 'expiresAt']) ? <ErrorNote error={error} /> : null}
        <Field label="Name" param="name" error={error} why="The program that uses the token.">
          <input
            className="control"
            required
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <fieldset className="grid gap-1">
          <legend className="mb-1 font-medium">Good for</legend>
          {SCOPES.filter((scope) => mayGrant(rights, [scope])).map((scope) => (
            <label key={scope} className="flex items-baseline gap-2">
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={() =>
                  setScopes(
                    scopes.includes(scope)
                      ? scopes.filter((each) => each !== scope)
                      : [...scopes, scope],
                  )
                }
              />
              <span>
                <span className="font-medium">{scope}</span>{' '}
                <span className="text-soft">{SCOPE_SAYS[scope]}</span>
              </span>
            </label>
          ))}
          <p className="text-sm text-soft">
            As little as the program needs: a token that leaks can do no more.
          </p>
        </fieldset>
        <Field
          label="Expires"
          param="expiresAt"
          error={error}
          why="From then on it gets 401. In your time zone; empty means never."
        >
          <input
            className="control"
            type="datetime-local"
            value={expires}
            onChange={(event) => setExpires(event.target.value)}
          />
        </Field>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={scopes.length === 0}>
            Create the token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

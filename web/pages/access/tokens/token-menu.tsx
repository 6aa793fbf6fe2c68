import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { mayGrant, type TokenScope } from '../../../../src/access/actions.ts';
import { api } from '../../../api/client.ts';
import type { Token } from '../../../api/types.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { Field } from '../../../parts/field.tsx';
import { Grace } from '../../../parts/grace.tsx';
import { Menu } from '../../../parts/menu.tsx';
import { useOnce } from '../../../parts/once.ts';
import { say } from '../../../parts/said.tsx';
import { localTime } from '../../../parts/time.tsx';
import { useHere } from '../../../shell/here.ts';
import { TokenSecret } from './token-secret.tsx';

const pathOf = (id: string, act: string) => `/v1/management/tokens/${id}/${act}`;

/** The acts on a token. A token with rights that the reader lacks has none, and one that has ended neither. */
export function TokenMenu({ of: token }: { of: Token }) {
  const { organization } = useHere();
  const queries = useQueryClient();
  const [open, setOpen] = useState<'rotate' | 'revoke'>();
  const rights = { member_role: organization?.role ?? 'viewer' } as const;
  const isLive = token.status === 'active';
  if (!isLive) return null;
  const close = () => setOpen(undefined);
  const mayRotate =
    token.revoked_at === null && mayGrant(rights, token.scopes as readonly TokenScope[]);
  const revoke = async () => {
    await api.post(pathOf(token.id, 'revoke'));
    await queries.invalidateQueries({ queryKey: ['tokens'] });
    say(`“${token.name}” is revoked.`);
  };
  return (
    <div className="-my-1.5 text-right">
      <Menu
        label={`Acts on ${token.name}`}
        button="⋯"
        acts={[
          ...(mayRotate ? [{ label: 'Rotate…', act: () => setOpen('rotate') }] : []),
          { label: 'Revoke…', act: () => setOpen('revoke'), isDanger: true },
        ]}
      />
      {open === 'rotate' ? <RotateDialog of={token} onClose={close} /> : null}
      {open === 'revoke' ? (
        <Confirm
          title={
            <>
              Revoke <bdi>{token.name}</bdi>?
            </>
          }
          label="Revoke the token"
          act={revoke}
          onClose={close}
        >
          <p>
            Requests with this token get 401 from now on. It cannot be made valid again.{' '}
            {token.last_used_at === null
              ? 'It was never used.'
              : `It was last used on ${localTime(token.last_used_at)}.`}
          </p>
        </Confirm>
      ) : null}
    </div>
  );
}

function RotateDialog({ of: token, onClose }: { of: Token; onClose: () => void }) {
  const queries = useQueryClient();
  const [grace_s, setGrace] = useState(86_400);
  const [made, setMade] = useState<Token & { readonly token: string }>();
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const body = { grace_s };
      setMade(await api.post(pathOf(token.id, 'rotate'), body, once(body)));
    });
  };
  const end = () => {
    onClose();
    queries.invalidateQueries({ queryKey: ['tokens'] });
  };
  if (made) {
    return (
      <Dialog title="The new token" wide dismissible={false} onClose={end}>
        <TokenSecret made={made} onKept={end} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title={
        <>
          Rotate <bdi>{token.name}</bdi>
        </>
      }
      onClose={onClose}
    >
      <form onSubmit={submit} className="grid gap-4 text-left">
        <p>A new token with the same rights takes the place of this one.</p>
        {error ? <ErrorNote error={error} /> : null}
        <Field
          label="The old token works"
          param="grace_s"
          error={error}
          why="Until then both work, so that programs can change over."
        >
          <Grace value={grace_s} onChange={setGrace} />
        </Field>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Rotate the token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

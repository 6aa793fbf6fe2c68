import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../../api/client.ts';
import type { OwnKey } from '../../../api/types.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { isShownBeside } from '../../../parts/field.tsx';
import { useOnce } from '../../../parts/once.ts';
import { say } from '../../../parts/said.tsx';
import { ownKeyPath, rereadOwnKeys } from './data.ts';
import { KeyField } from './key-field.tsx';
import { protocolOf } from './protocols.ts';

/** Puts another key of the same account in the place of an own key, after a test. */
export function RotateOwnKeyDialog({ of: key, onClose }: { of: OwnKey; onClose: () => void }) {
  const queries = useQueryClient();
  const [api_key, setKey] = useState('');
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const body = { api_key };
      await api.post(ownKeyPath(key.id, '/rotate'), body, once(body));
      await rereadOwnKeys(queries);
      say(`“${key.name}” is rotated.`);
      onClose();
    });
  };
  return (
    <Dialog
      title={
        <>
          Rotate <bdi>{key.name}</bdi>
        </>
      }
      onClose={onClose}
      dismissible={api_key === ''}
    >
      <form onSubmit={submit} className="grid gap-4">
        <p>
          New calls use the new key as soon as the provider has accepted it. If it is refused, the
          old key stays.
        </p>
        {error && !isShownBeside(error, ['api_key']) ? <ErrorNote error={error} /> : null}
        <KeyField
          value={api_key}
          onChange={setKey}
          error={error}
          example={protocolOf(key.protocol).example}
        />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Test and rotate
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../../api/client.ts';
import type { OwnKey } from '../../../api/types.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { isShownBeside } from '../../../parts/field.tsx';
import { say } from '../../../parts/said.tsx';
import { ownKeyPath, rereadOwnKeys } from './data.ts';
import { modelsOfText, textOfModels } from './models-text.ts';
import {
  ModelsField,
  NameField,
  OWN_KEY_PARAMS,
  type OwnKeyForm,
  PriorityField,
  priorityOf,
} from './own-key-fields.tsx';

const formOf = ({ name, models, priority }: OwnKey): OwnKeyForm => ({
  ...{ name, models: textOfModels(models), priority: String(priority) },
});

/** What `PATCH` needs to make `after` of `before`. */
function changesOf(before: OwnKeyForm, after: OwnKeyForm): object {
  return {
    ...(after.name === before.name ? {} : { name: after.name }),
    ...(after.models === before.models ? {} : { models: modelsOfText(after.models) ?? {} }),
    ...(after.priority === before.priority ? {} : { priority: priorityOf(after.priority) }),
  };
}

/** Changes the name, the models and the order of an own key, and offers to take it back. */
export function EditOwnKeyDialog({ of: key, onClose }: { of: OwnKey; onClose: () => void }) {
  const queries = useQueryClient();
  // What the person began with does not follow the list.
  const [before] = useState(() => formOf(key));
  const [form, setForm] = useState(before);
  const { act, isBusy, error } = useAct();
  const changes = changesOf(before, form);
  const hasChanges = Object.keys(changes).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const path = ownKeyPath(key.id);
      const { value, etag } = await api.patchTagged<OwnKey>(path, changes);
      await rereadOwnKeys(queries);
      say(`“${value.name}” is changed.`, async () => {
        await api.patch(path, changesOf(formOf(value), before), etag);
        await rereadOwnKeys(queries);
      });
      onClose();
    });
  };
  const fields = { form, onChange: setForm, error };
  return (
    <Dialog
      title={
        <>
          Edit <bdi>{key.name}</bdi>
        </>
      }
      onClose={onClose}
      dismissible={!hasChanges}
    >
      <form onSubmit={submit} className="grid gap-4">
        {error && !isShownBeside(error, OWN_KEY_PARAMS) ? <ErrorNote error={error} /> : null}
        <NameField {...fields} />
        <ModelsField {...fields} />
        <PriorityField {...fields} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={!hasChanges}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

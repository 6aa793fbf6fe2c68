import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import type { ApiKey } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { isShownBeside } from '../../parts/field.tsx';
import { ForeignNote } from '../../parts/foreign-note.tsx';
import { changeKey, keyPath } from './key-data.ts';
import { KeyFields, LABELS } from './key-fields.tsx';
import { changesOf, type ForeignChange, formOf, rebase } from './key-form.ts';
import { shownBeside } from './new-key-dialog.tsx';

interface EditKeyProps {
  /** The key as it was when the dialog opened. */
  readonly opened: Answer<ApiKey>;
  readonly onClose: () => void;
}

/**
 * Changes the settings of a key. If somebody else changed them meanwhile, nothing is overwritten: the
 * dialog shows what changed, and the person saves again.
 */
export function EditKeyDialog({ opened, onClose }: EditKeyProps) {
  const queries = useQueryClient();
  // What the person began with does not follow the live key.
  const [base, setBase] = useState(opened);
  const [form, setForm] = useState(() => formOf(opened.value));
  const [foreign, setForeign] = useState<readonly ForeignChange[]>([]);
  const { act, isBusy, error } = useAct();
  const { data: balance } = useQuery({
    queryKey: ['balance'],
    queryFn: ({ signal }) => api.get<{ available: number }>('/v1/management/balance', {}, signal),
  });
  const key = base.value;
  const changes = changesOf(formOf(key), form);
  const hasChanges = Object.keys(changes).length > 0;
  const readAgain = async () => {
    const now = await api.getTagged<ApiKey>(keyPath(key.id));
    const rebased = rebase(formOf(key), form, formOf(now.value));
    setBase(now);
    setForm(rebased.form);
    setForeign(rebased.changes);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      try {
        const said = `“${form.name.trim() || key.name}” is changed.`;
        if (hasChanges) await changeKey(queries, key, changes, { etag: base.etag, said });
        onClose();
      } catch (failure) {
        if (!(failure instanceof ApiError && failure.status === 412)) throw failure;
        await readAgain();
      }
    });
  };
  return (
    <Dialog title="Edit the key" onClose={onClose} dismissible={!hasChanges}>
      <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {error && !isShownBeside(error, shownBeside(form)) ? <ErrorNote error={error} /> : null}
        {foreign.length > 0 ? <ForeignChanges changes={foreign} /> : null}
        <KeyFields form={form} onChange={setForm} error={error} available={balance?.available} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={!hasChanges}>
            {foreign.length > 0 ? 'Save my changes' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function ForeignChanges({ changes }: { changes: readonly ForeignChange[] }) {
  return (
    <ForeignNote what="key">
      <ul className="mt-1 grid gap-0.5 text-soft">
        {changes.map(({ field, before, now, isContested }) => (
          <li key={field}>
            {LABELS[field]}: <bdi>{before}</bdi> → <bdi className="text-ink">{now}</bdi>
            {isContested ? '. You changed it too: saving puts yours in its place.' : '.'}
          </li>
        ))}
      </ul>
    </ForeignNote>
  );
}

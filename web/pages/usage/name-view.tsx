import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Field, isShownBeside } from '../../parts/field.tsx';
import { useHere } from '../../shell/here.ts';
import { VIEWS_PATH } from './reads.ts';

/** A saved view (`GET /v1/management/views`). */
export interface View {
  readonly id: string;
  readonly name: string;
  readonly query: string;
  /** True if the organization has it, false if it is the person's own. */
  readonly shared: boolean;
  readonly may_change: boolean;
}

interface NameViewProps {
  /** The view that gets another name; without it a new view is made of what the page shows now. */
  readonly open: View | undefined;
  readonly now: { readonly page: string; readonly query: string };
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Asks for the name of a new view, or for another name of one. */
export function NameView({ open, now, onClose, onSaved }: NameViewProps) {
  const here = useHere();
  const [name, setName] = useState(open?.name ?? '');
  const [shared, share] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      open === undefined
        ? api.post<View>(VIEWS_PATH, { name, ...now, shared })
        : api.patch<View>(`${VIEWS_PATH}/${open.id}`, { name }),
    onSuccess: onSaved,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <Dialog title={open ? 'Rename the view' : 'Save this view'} onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4 text-[0.9375rem]">
        {error && !isShownBeside(error, ['name']) ? <ErrorNote error={error} /> : null}
        <Field
          label="Name"
          why="What you will look for, e.g. Spend by team."
          param="name"
          error={error}
        >
          <input
            className="control"
            required
            maxLength={100}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </Field>
        {open === undefined && here.may('views.share') ? (
          <label className="flex items-center gap-2">
            <input
              type="checkbox"
              className="size-4"
              checked={shared}
              onChange={({ target }) => share(target.checked)}
            />
            Share it with the organization
          </label>
        ) : null}
        <Button type="submit" kind="primary" busy={isPending} className="justify-self-end">
          Save
        </Button>
      </form>
    </Dialog>
  );
}

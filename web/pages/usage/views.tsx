import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { defaultParseSearch, defaultStringifySearch, Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Field, isShownBeside } from '../../parts/field.tsx';
import { useHere } from '../../shell/here.ts';

/** A saved view (`GET /v1/management/views`). */
interface View {
  readonly id: string;
  readonly name: string;
  readonly query: string;
  /** True if the organization has it, false if it is the person's own. */
  readonly shared: boolean;
  readonly may_change: boolean;
}

const PATH = '/v1/management/views';

interface SavedViewsProps {
  /** The name of the page, e.g. `usage`. */
  readonly page: string;
  readonly to: '/usage' | '/usage/requests';
  /** What the page shows now. */
  readonly search: Readonly<Record<string, unknown>>;
}

/** The named views of a page: each is a link. What the page shows now can be named, too. */
export function SavedViews({ page, to, search }: SavedViewsProps) {
  const here = useHere();
  const [isSaving, save] = useState(false);
  const queries = useQueryClient();
  const key = ['views', page];
  const { data: views, isError } = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => (await api.get<{ data: View[] }>(PATH, { page }, signal)).data,
    staleTime: 30_000,
    enabled: here.may('views.read'),
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.delete(`${PATH}/${id}`),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  });
  const query = queryOf(search);
  const open = views?.find((view) => view.query === query);
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      <span className="text-soft">Views</span>
      {isError ? <span className="text-warn">unknown</span> : null}
      {(views ?? []).map((view) => (
        <Link
          key={view.id}
          to={to}
          search={defaultParseSearch(`?${view.query}`)}
          aria-current={view === open ? 'true' : undefined}
          title={view.shared ? 'Shared with the organization' : 'Only you see this view'}
          className={`max-w-56 truncate rounded-full border px-3 py-0.5 ${view === open ? 'border-accent bg-accent-soft text-accent' : 'border-line bg-card hover:border-edge'}`}
        >
          <bdi>{view.name}</bdi>
          {view.shared ? null : <span className="text-soft"> · yours</span>}
        </Link>
      ))}
      {open?.may_change ? (
        <Button kind="quiet" busy={remove.isPending} onClick={() => remove.mutate(open.id)}>
          Delete this view
        </Button>
      ) : null}
      {open === undefined && query !== '' && here.may('views.write') ? (
        <Button kind="quiet" onClick={() => save(true)}>
          Save this view
        </Button>
      ) : null}
      {open === undefined && query === '' && views?.length === 0 ? (
        <span className="text-soft">Choose filters, then give what you see a name.</span>
      ) : null}
      {remove.error ? <ErrorNote error={remove.error} /> : null}
      {isSaving ? (
        <SaveView
          page={page}
          query={query}
          onClose={() => save(false)}
          onSaved={() => {
            save(false);
            queries.invalidateQueries({ queryKey: key });
          }}
        />
      ) : null}
    </div>
  );
}

interface SaveViewProps {
  readonly page: string;
  readonly query: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function SaveView({ page, query, onClose, onSaved }: SaveViewProps) {
  const here = useHere();
  const [name, setName] = useState('');
  const [shared, share] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post<View>(PATH, { name, page, query, shared }),
    onSuccess: onSaved,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <Dialog title="Save this view" onClose={onClose}>
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
        {here.may('views.share') ? (
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

/** The query of an address that shows the same again. A held instant would hide everything newer. */
function queryOf(search: Readonly<Record<string, unknown>>): string {
  const kept = Object.entries(search).filter(
    ([name, value]) => value !== undefined && name !== 'as_of' && name !== 'org',
  );
  const sorted = kept.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return defaultStringifySearch(Object.fromEntries(sorted)).replace(/^\?/, '');
}

import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { defaultParseSearch, defaultStringifySearch, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useHere } from '../../shell/here.ts';
import { NameView, type View } from './name-view.tsx';
import { VIEWS_PATH } from './reads.ts';

interface SavedViewsProps {
  /** The name of the page, e.g. `usage`. */
  readonly page: string;
  readonly to: '/usage' | '/usage/requests';
  /** What the page shows now. */
  readonly search: Readonly<Record<string, unknown>>;
}

/** The read of the named views of a page. */
export const savedViews = (page: string) =>
  queryOptions({
    queryKey: ['views', page],
    queryFn: async ({ signal }) =>
      (await api.get<{ data: View[] }>(VIEWS_PATH, { page }, signal)).data,
    staleTime: 30_000,
  });

/** The named views of a page: each is a link. What the page shows now can be named, too. */
export function SavedViews({ page, to, search }: SavedViewsProps) {
  const here = useHere();
  const [isNaming, name] = useState(false);
  const [isRemoving, remove] = useState(false);
  const queries = useQueryClient();
  const read = savedViews(page);
  const { data: views, isError } = useQuery({ ...read, enabled: here.may('views.read') });
  const changed = () => queries.invalidateQueries({ queryKey: read.queryKey });
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
        <>
          <Button kind="quiet" onClick={() => name(true)}>
            Rename
          </Button>
          <Button kind="quiet" onClick={() => remove(true)}>
            Delete this view
          </Button>
        </>
      ) : null}
      {open === undefined && query !== '' && here.may('views.write') ? (
        <Button kind="quiet" onClick={() => name(true)}>
          Save this view
        </Button>
      ) : null}
      {open === undefined && query === '' && views?.length === 0 ? (
        <span className="text-soft">Choose filters, then give what you see a name.</span>
      ) : null}
      {open && isRemoving ? (
        <Confirm
          title={
            <>
              Delete <bdi>{open.name}</bdi>?
            </>
          }
          label="Delete the view"
          act={async () => {
            await api.delete(`${VIEWS_PATH}/${open.id}`);
            await changed();
          }}
          onClose={() => remove(false)}
        >
          <p>
            {open.shared ? 'Nobody in the organization finds it again.' : 'You lose its name.'}{' '}
            Links to what it shows still work.
          </p>
        </Confirm>
      ) : null}
      {isNaming ? (
        <NameView
          open={open}
          now={{ page, query }}
          onClose={() => name(false)}
          onSaved={() => {
            name(false);
            changed();
          }}
        />
      ) : null}
    </div>
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

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ApiKey } from '../../api/types.ts';
import { ApiCall, curlOf } from '../../parts/api-call.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Guarded } from '../../shell/guarded.tsx';
import { useHere } from '../../shell/here.ts';
import { useKeys } from './key-data.ts';
import { foundKeys, type KeysSearch } from './key-search.ts';
import { KeyTable } from './key-table.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';

/** Who may spend how much? */
export function KeysPage() {
  const search = useSearch({ from: '/inside/keys' });
  const navigate = useNavigate();
  const { may } = useHere();
  const { status, tag } = search;
  const filter = { ...(status ? { status } : {}), ...(tag ? { tag } : {}) };
  const change = (changed: KeysSearch) =>
    navigate({ to: '/keys', search: { ...search, ...changed }, replace: true });
  const canCreate = may('keys.write');
  const create = () => navigate({ to: '/keys', search: { ...search, create: true } });
  return (
    <Page
      title="API keys"
      question="Who may spend how much?"
      acts={
        canCreate ? (
          <Button kind="primary" onClick={create}>
            Create a key
          </Button>
        ) : undefined
      }
      call={<ApiCall path="/v1/management/api-keys" query={filter} />}
    >
      <Guarded needs="keys.read">
        <Keys search={search} change={change} create={canCreate ? create : undefined} />
      </Guarded>
      {search.create && canCreate ? (
        <NewKeyDialog onClose={() => change({ create: undefined })} />
      ) : null}
    </Page>
  );
}

interface KeysProps extends Omit<FoundProps, 'keys'> {
  readonly create: (() => void) | undefined;
}

function Keys({ search, change, create }: KeysProps) {
  const { status, tag, q } = search;
  const keys = useKeys({ ...(status ? { status } : {}), ...(tag ? { tag } : {}) });
  const isFiltered = Boolean(status || tag || q);
  return (
    <>
      <Filters search={search} change={change} keys={keys.data ?? []} />
      <Loaded query={keys} height="h-64">
        {(list) =>
          list.length === 0 && !isFiltered ? (
            <NoKeys create={create} />
          ) : (
            <Found keys={list} search={search} change={change} />
          )
        }
      </Loaded>
    </>
  );
}

interface FoundProps {
  readonly keys: readonly ApiKey[];
  readonly search: KeysSearch;
  readonly change: (changed: KeysSearch) => void;
}

function Found({ keys, search: { q = '', sort }, change }: FoundProps) {
  // Amounts change in place. The order changes only with the keys and with what was asked for, so that no
  // row moves under the pointer.
  const members = keys.map(({ id, name }) => `${id} ${name}`).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `members` stands for the keys
  const order = useMemo(() => foundKeys(keys, q, sort).map(({ id }) => id), [members, q, sort]);
  const byId = new Map(keys.map((key) => [key.id, key]));
  const found = order.flatMap((id) => byId.get(id) ?? []);
  if (found.length === 0) {
    return (
      <Empty
        title="No key is like this"
        act={
          <Button onClick={() => change({ q: undefined, status: undefined, tag: undefined })}>
            Show all keys
          </Button>
        }
      >
        No key has this text, this status and this tag.
      </Empty>
    );
  }
  return <KeyTable keys={found} onTag={(tag) => change({ tag })} />;
}

function Filters({ search, change, keys }: Omit<FoundProps, 'keys'> & { keys: readonly ApiKey[] }) {
  const tags = [...new Set([...keys.flatMap((key) => key.tags), search.tag ?? ''])].filter(Boolean);
  const choice = (
    name: 'status' | 'tag' | 'sort',
    label: string,
    options: readonly (readonly [value: string, says: string])[],
  ) => (
    <label className="grid gap-1 text-sm text-soft">
      {label}
      <select
        className="control"
        value={search[name] ?? ''}
        onChange={(event) => change({ [name]: event.target.value || undefined })}
      >
        {options.map(([value, says]) => (
          <option key={value} value={value}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-[minmax(0,2fr)_repeat(3,minmax(0,1fr))]">
      <label className="grid gap-1 text-sm text-soft max-sm:col-span-2">
        Find
        <input
          className="control"
          type="search"
          data-search
          placeholder="Name, prefix, tag or id"
          value={search.q ?? ''}
          onChange={(event) => change({ q: event.target.value || undefined })}
        />
      </label>
      {choice('status', 'Status', [
        ['', 'Any'],
        ['active', 'Active'],
        ['inactive', 'Paused'],
        ['suspended', 'Suspended'],
        ['revoked', 'Revoked'],
      ])}
      {choice('tag', 'Tag', [['', 'Any'], ...tags.toSorted().map((tag) => [tag, tag] as const)])}
      {choice('sort', 'Order', [
        ['', 'Newest first'],
        ['name', 'Name'],
        ['spent', 'Most spent'],
        ['left', 'Least left'],
        ['used', 'Last used'],
      ])}
    </div>
  );
}

function NoKeys({ create }: { create: (() => void) | undefined }) {
  const body = { name: 'My program', limitAmount: 5 };
  return (
    <Empty
      title="No keys yet"
      act={
        create ? (
          <Button kind="primary" onClick={create}>
            Create the first key
          </Button>
        ) : undefined
      }
      command={curlOf({ method: 'POST', path: '/v1/management/api-keys', body })}
    >
      A program calls models with a key. Each key has its own cap, so a mistake in one program
      cannot spend the money of the others.
    </Empty>
  );
}

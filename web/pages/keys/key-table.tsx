import { Link, useNavigate } from '@tanstack/react-router';
import type { ApiKey } from '../../api/types.ts';
import { CapBar } from '../../parts/cap-bar.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time, useNow } from '../../parts/time.tsx';
import { useHere } from '../../shell/here.ts';
import { useKeyActs } from './key-acts.tsx';
import { KeyBadge } from './key-state.tsx';

interface KeyTableProps {
  readonly keys: readonly ApiKey[];
  readonly onTag: (tag: string) => void;
}

/** The keys, each with its cap and its acts. */
export function KeyTable({ keys, onTag }: KeyTableProps) {
  const navigate = useNavigate();
  const now_ms = useNow(30_000);
  const canWrite = useHere().may('keys.write');
  const columns: Column<ApiKey>[] = [
    {
      title: 'Key',
      cell: (key) => (
        <div className="min-w-28">
          <Link to="/keys/$id" params={{ id: key.id }} className="font-medium hover:underline">
            <bdi>{key.name}</bdi>
          </Link>
          <div className="font-mono text-[0.82em] text-soft">{key.key_prefix}</div>
          <div className="mt-0.5 sm:hidden">
            <KeyBadge of={key} now_ms={now_ms} />
          </div>
        </div>
      ),
    },
    {
      title: 'Cap',
      cell: ({ used_amount, held_amount, limit_amount }) => (
        <div className="min-w-28 sm:min-w-40">
          <CapBar used={used_amount} held={held_amount} cap={limit_amount} />
        </div>
      ),
    },
    { title: 'Status', onPhone: false, cell: (key) => <KeyBadge of={key} now_ms={now_ms} /> },
    {
      title: 'Last used',
      onPhone: false,
      cell: ({ last_used_at }) => <Time at={last_used_at} ago none="never" />,
    },
    {
      title: 'Tags',
      onPhone: false,
      cell: ({ tags }) => (
        <div className="flex min-w-28 flex-wrap gap-1">
          {tags.map((tag) => (
            <button
              key={tag}
              type="button"
              onClick={() => onTag(tag)}
              title="Show the keys with this tag"
              className="rounded-full border border-line px-2 text-[0.82em] text-soft hover:border-edge hover:text-ink"
            >
              <bdi>{tag}</bdi>
            </button>
          ))}
        </div>
      ),
    },
    ...(canWrite
      ? [{ title: 'Acts', isQuiet: true, cell: (key: ApiKey) => <RowMenu of={key} /> }]
      : []),
  ];
  return (
    <Table
      caption="API keys"
      columns={columns}
      rows={keys}
      keyOf={({ id }) => id}
      onOpen={({ id }) => navigate({ to: '/keys/$id', params: { id } })}
    />
  );
}

function RowMenu({ of: key }: { of: ApiKey }) {
  const navigate = useNavigate();
  const { acts, dialog } = useKeyActs(key);
  const edit = {
    label: 'Edit…',
    act: () => navigate({ to: '/keys/$id', params: { id: key.id }, search: { edit: true } }),
  };
  return (
    <div className="-my-1.5 text-right">
      <Menu label={`Acts on ${key.name}`} button="⋯" acts={[edit, ...acts]} />
      {dialog}
    </div>
  );
}

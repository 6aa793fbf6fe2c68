import { Link, useNavigate } from '@tanstack/react-router';
import type { ListedActor } from '../../api/types.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { duration, fromNow, useNow } from '../../parts/time.tsx';
import { NAMES } from './names.ts';
import { toneOf } from './tones.ts';

interface ActorTableProps {
  readonly caption: string;
  readonly actors: readonly ListedActor[];
}

/** Actors with what each of them waits for. */
export function ActorTable({ caption, actors }: ActorTableProps) {
  const navigate = useNavigate();
  const now = useNow(1_000);
  return (
    <Table
      caption={caption}
      rows={actors}
      keyOf={({ kind, id, replica }) => `${kind}/${id}/${replica}`}
      columns={columnsAt(now)}
      onOpen={(actor) => navigate({ to: '/actors/$kind/$id', ...targetOf(actor) })}
    />
  );
}

/** Quotas and channels have one actor on each replica. */
function targetOf({ kind, id, replica }: ListedActor) {
  const isInMemory = kind === 'quota' || kind === 'channel';
  return { params: { kind, id }, search: isInMemory && replica !== null ? { replica } : {} };
}

const columnsAt = (now: number): Column<ListedActor>[] => [
  {
    title: 'Actor',
    cell: (actor) => (
      <>
        <span className="block text-sm text-soft">{NAMES[actor.kind] ?? actor.kind}</span>
        <Link
          to="/actors/$kind/$id"
          {...targetOf(actor)}
          className="font-mono text-[0.85em] break-all hover:underline"
        >
          {actor.id}
        </Link>
      </>
    ),
  },
  {
    title: 'State',
    cell: ({ kind, state, says, attempt }) => (
      <>
        <Badge tone={toneOf(kind, state)}>
          <span className="font-mono">{state}</span>
        </Badge>
        <span className="block text-sm text-soft">
          {says}
          {attempt !== null && attempt > 1 ? `; attempt ${attempt}` : ''}
        </span>
      </>
    ),
  },
  {
    title: 'For',
    align: 'right',
    cell: ({ live, since, is_stuck, usual_ms }) => (
      <>
        <span className="whitespace-nowrap">
          {live ? duration(Math.max(0, now - Date.parse(since))) : fromNow(Date.parse(since), now)}
        </span>
        {is_stuck && usual_ms !== null ? (
          <span className="block text-sm text-warn">usual: {duration(usual_ms)}</span>
        ) : null}
      </>
    ),
  },
  {
    title: 'Next by itself',
    align: 'right',
    onPhone: false,
    cell: ({ live, next_at }) =>
      next_at === null ? (
        <span className="text-soft">{live ? 'on an event' : '–'}</span>
      ) : (
        <span className="whitespace-nowrap">{untilThen(next_at, now)}</span>
      ),
  },
];

/** Below this, a time that has passed is not late, ms: the list is some seconds old. */
const GRACE_MS = 10_000;

/** When something happens next by itself. */
function untilThen(at: string, now: number): string {
  const rest = Date.parse(at) - now;
  if (rest < -GRACE_MS) return `overdue for ${duration(-rest)}`;
  return rest <= 0 ? 'now' : fromNow(Date.parse(at), now);
}

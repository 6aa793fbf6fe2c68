import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { useUndismissed } from './dismissed.ts';

/** Something that needs a person (`GET /v1/management/notices`). */
interface Notice {
  readonly id: string;
  readonly since: string | null;
  readonly severity: 'problem' | 'warning';
  readonly subject: { readonly kind: string; readonly id: string; readonly name: string };
  readonly text: string;
  readonly act: string;
  readonly page: string;
}

/** How often notices are read, ms: most causes send no event. */
const READ_EVERY_MS = 30_000;

/** The read of the notices. */
export const notices = queryOptions({
  queryKey: ['notices'],
  queryFn: async ({ signal }) =>
    (await api.get<{ data: Notice[] }>('/v1/management/notices', {}, signal)).data,
});

/** What needs a person: the worst of it, one line high, and the rest behind it. */
export function Notices() {
  const { data, isError, refetch } = useQuery({ ...notices, refetchInterval: READ_EVERY_MS });
  const { left, dismiss } = useUndismissed(data);
  if (data === undefined) {
    return (
      <p role="status" className="min-h-6 text-sm text-soft">
        {isError ? (
          <>
            Whether something needs you is unknown.{' '}
            <button type="button" className="text-accent underline" onClick={() => refetch()}>
              Try again
            </button>
          </>
        ) : null}
      </p>
    );
  }
  const [first, ...rest] = left;
  if (first === undefined) {
    return (
      <p className="flex min-h-6 items-center gap-2 text-sm text-soft">
        <span aria-hidden="true" className="size-2 rounded-full bg-good" />
        {data.length === 0 ? 'Nothing needs you now.' : 'Nothing new needs you.'}
      </p>
    );
  }
  return (
    <div className="overflow-hidden rounded-box border border-line bg-card">
      <ul aria-label="What needs you">
        <Line notice={first} onDismiss={dismiss} />
      </ul>
      {rest.length > 0 ? (
        <details className="border-t border-line">
          <summary className="px-4 py-1.5 text-sm text-soft">{rest.length} more</summary>
          <ul aria-label="More that needs you">
            {rest.map((notice) => (
              <Line key={notice.id} notice={notice} onDismiss={dismiss} />
            ))}
          </ul>
        </details>
      ) : null}
    </div>
  );
}

interface LineProps {
  readonly notice: Notice;
  readonly onDismiss: (notice: Notice) => void;
}

function Line({ notice, onDismiss }: LineProps) {
  const { severity, subject, text, act } = notice;
  const isProblem = severity === 'problem';
  return (
    <li className="flex items-center gap-3 border-t border-line px-4 py-1.5 text-sm first:border-t-0">
      <span
        className={`shrink-0 rounded-full px-2 text-[0.82em] font-medium ${isProblem ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn'}`}
      >
        {isProblem ? 'problem' : 'soon'}
      </span>
      <span className="min-w-0 flex-1 truncate" title={`${text} ${act}`}>
        {subject.kind === 'key' ? (
          <>
            <bdi className="font-medium">{subject.name}</bdi>:{' '}
          </>
        ) : null}
        {text} <span className="text-soft">{act}</span>
      </span>
      <Link to={pageOf(notice)} className="shrink-0 text-accent underline underline-offset-2">
        Open
      </Link>
      <button
        type="button"
        onClick={() => onDismiss(notice)}
        title="Hide it until its cause returns"
        className="-my-1 shrink-0 rounded-control px-1.5 py-1 text-soft hover:bg-sunk hover:text-ink"
      >
        Dismiss
      </button>
    </li>
  );
}

/** The page where a person mends it. */
function pageOf({ page, subject }: Notice): string {
  const id = encodeURIComponent(subject.id);
  if (page === 'api-keys') return `/keys/${id}`;
  if (page === 'models') return `/models/${id}`;
  if (subject.kind === 'delivery') return '/access/webhooks';
  return `/${page}`;
}

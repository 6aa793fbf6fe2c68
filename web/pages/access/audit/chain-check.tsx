import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { Button } from '../../../parts/button.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';

/** What `GET /v1/management/audit-log/check` answers. */
interface Check {
  readonly intact: boolean;
  readonly lines: number;
  /** The first line that does not fit; null if all do. */
  readonly broken_at: number | null;
}

/** Follows the chain of hashes through the whole log, when the reader asks for it. */
export function ChainCheck() {
  const check = useQuery({
    queryKey: ['audit-check'],
    queryFn: ({ signal }) => api.get<Check>('/v1/management/audit-log/check', {}, signal),
    enabled: false,
    gcTime: 0,
  });
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <Button busy={check.isFetching} onClick={() => check.refetch()}>
          Check the chain
        </Button>
        <span role="status" className="min-w-0 flex-1 basis-64 text-sm">
          {check.data && !check.error ? (
            <Result check={check.data} />
          ) : (
            <span className="text-soft">
              Each line has the hash of the line before. A line that somebody changed or removed
              breaks the chain.
            </span>
          )}
        </span>
      </div>
      {check.error ? <ErrorNote error={check.error} /> : null}
    </div>
  );
}

function Result({ check: { intact, lines, broken_at } }: { check: Check }) {
  const counted = `${lines.toLocaleString()} ${lines === 1 ? 'line' : 'lines'}`;
  return intact ? (
    <span className="text-good">The chain is whole: {counted}, none changed, none missing.</span>
  ) : (
    <span className="text-bad">
      The chain of {counted} is broken at line {broken_at}.
    </span>
  );
}

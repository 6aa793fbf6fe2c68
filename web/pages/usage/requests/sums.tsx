import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../../api/client.ts';
import type { UsageQuery } from '../../../api/types.ts';
import { counted } from '../../../parts/figures.ts';
import { Money } from '../../../parts/money.tsx';
import { filtersOf, instantOf, instantsOf, sharedSearch, type UsageSearch } from '../search.ts';

/** The explorer sums at most about ten years. */
const LONGEST_MS = 3_650 * 24 * 3_600_000;

/** How many calls the list has in all, and what they cost, as of the same instant. */
export function Sums({ search, as_of }: { search: UsageSearch; as_of: string | undefined }) {
  const isSummed = search.errorCode === undefined && search.fault === undefined;
  const held = { ...search, as_of };
  const sums = useQuery({
    queryKey: ['request-sums', held],
    queryFn: ({ signal }) => {
      const now = instantOf(as_of ?? '');
      const earliest = { startDate: new Date(now - LONGEST_MS).toISOString() };
      return api.get<UsageQuery>(
        '/v1/management/usage/query',
        {
          ...{ metric: 'cost', bucket: 'none', as_of },
          ...{ ...filtersOf(search, 'shared'), ...earliest, ...definedOf(instantsOf(held, now)) },
        },
        signal,
      );
    },
    enabled: isSummed && as_of !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
    placeholderData: (before) => before,
  });
  if (as_of === undefined) return <span />;
  const time = new Date(instantOf(as_of)).toLocaleTimeString();
  return (
    <p className="text-sm text-soft">
      {isSummed && !sums.isError ? (
        <Link
          to="/usage"
          search={{ ...sharedSearch(search), as_of }}
          className="text-ink underline decoration-edge underline-offset-2 hover:decoration-ink"
        >
          {sums.data ? counted(sums.data.total.requests, 'request') : '… requests'},{' '}
          {sums.data ? <Money usd={sums.data.total.value} /> : '…'}
        </Link>
      ) : null}
      {isSummed && sums.isError ? 'Their number and cost are unknown' : null}
      {isSummed ? ', as of ' : 'As of '}
      {time}
    </p>
  );
}

const definedOf = <Value extends object>(value: Value): Partial<Value> =>
  Object.fromEntries(
    Object.entries(value).filter(([, each]) => each !== undefined),
  ) as Partial<Value>;

import { urlOf } from '../../../api/url.ts';
import { useHere } from '../../../shell/here.ts';
import { filtersOf, instantsOf } from '../search.ts';
import type { ExploreSearch } from './search.ts';

const DAY_MS = 86_400_000;

/** Links to all charges of what the page shows, as of the same instant. They are streamed. */
export function Exports({ search, as_of }: { search: ExploreSearch; as_of: string | undefined }) {
  const { organization } = useHere();
  const held = { ...search, as_of: as_of ?? search.as_of };
  const filters = filtersOf(held, 'shared');
  const lately = { startDate: new Date(Date.now() - 30 * DAY_MS).toISOString() };
  const instants = instantsOf(held, Date.now());
  const href = (format: 'csv' | 'ndjson') =>
    urlOf('/v1/management/usage/export', {
      // A link sends no header that names the organization.
      ...{ format, organization_id: organization?.id, ...filters, as_of: held.as_of },
      ...(instants.startDate === undefined ? lately : instants),
    });
  const style =
    'inline-flex min-h-9 items-center rounded-control px-2.5 py-1 font-medium text-accent hover:bg-accent-soft';
  const title = 'All charges in this time, one a line';
  return (
    <>
      <a className={style} href={href('csv')} download="usage.csv" title={title}>
        CSV
      </a>
      <a className={style} href={href('ndjson')} download="usage.ndjson" title={title}>
        NDJSON
      </a>
    </>
  );
}

import { Link } from '@tanstack/react-router';
import type { Here } from '../api/session.ts';
import { PLACES } from './places.ts';

/** The pages that the person may open. */
export function Navigation({ here, onChosen }: { here: Here; onChosen?: () => void }) {
  const groups = PLACES.map((places) =>
    places.filter(({ needs }) => needs === undefined || here.may(needs)),
  ).filter((places) => places.length > 0);
  return (
    <nav aria-label="Pages" className="grid gap-4">
      {groups.map((places) => (
        <ul key={places[0]?.to} className="grid gap-0.5">
          {places.map(({ to, title }) => (
            <li key={to}>
              <Link
                to={to}
                activeOptions={{ exact: to === '/', includeSearch: false }}
                onClick={onChosen}
                className="block rounded-control px-3 py-1.5 text-soft hover:bg-sunk hover:text-ink"
                activeProps={{
                  className: 'bg-accent-soft font-medium text-accent! hover:bg-accent-soft',
                }}
              >
                {title}
              </Link>
            </li>
          ))}
        </ul>
      ))}
    </nav>
  );
}

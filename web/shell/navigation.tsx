import { Link, useRouterState } from '@tanstack/react-router';
import type { Here } from '../api/session.ts';
import { placesFor } from './places.ts';

const ACTIVE = 'bg-accent-soft font-medium text-accent! hover:bg-accent-soft';

/** The pages that the person may open. */
export function Navigation({ here, onChosen }: { here: Here; onChosen?: () => void }) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <nav aria-label="Pages" className="grid gap-4">
      {placesFor(here).map((places) => (
        <ul key={places[0]?.to} className="grid gap-0.5">
          {places.map(({ to, title, under }) => (
            <li key={to}>
              <Link
                to={to}
                activeOptions={{ exact: to === '/', includeSearch: false }}
                onClick={onChosen}
                className={`block rounded-control px-3 py-1.5 text-soft hover:bg-sunk hover:text-ink ${under !== undefined && path.startsWith(under) ? ACTIVE : ''}`}
                activeProps={{ className: ACTIVE }}
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

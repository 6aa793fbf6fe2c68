import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Action } from '../../../src/access/actions.ts';
import { Page } from '../../parts/page.tsx';
import { Guarded } from '../../shell/guarded.tsx';
import { useHere } from '../../shell/here.ts';

const PLACES = [
  { to: '/access/people', title: 'People', needs: 'people.read' },
  { to: '/access/tokens', title: 'Tokens', needs: 'tokens.read' },
  { to: '/access/upstream-keys', title: 'Own keys', needs: 'upstream_keys.read' },
  { to: '/access/audit', title: 'Audit log', needs: 'audit.read' },
  { to: '/access/webhooks', title: 'Webhooks', needs: 'tasks.read' },
  { to: '/access/settings', title: 'Settings', needs: 'settings.read' },
] as const satisfies readonly { to: string; title: string; needs: Action }[];

interface AccessPageProps {
  readonly at: (typeof PLACES)[number]['to'];
  readonly question: string;
  readonly acts?: ReactNode;
  readonly call?: ReactNode;
  readonly children: ReactNode;
}

/** A page about who may do what, with links to the others that the person may see. */
export function AccessPage({ at, question, acts, call, children }: AccessPageProps) {
  const { may } = useHere();
  const place = PLACES.find(({ to }) => to === at) ?? PLACES[0];
  const isAllowed = may(place.needs);
  const places = useRef<HTMLElement>(null);
  // A phone has no room for all places. The present one may be beside the window.
  useEffect(() => {
    const present = places.current?.querySelector('[aria-current]');
    present?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, []);
  return (
    <Page
      title={place.title}
      question={question}
      acts={isAllowed ? acts : undefined}
      call={isAllowed ? call : undefined}
    >
      <nav ref={places} aria-label="Access" className="-mt-2 overflow-x-auto">
        <ul className="flex gap-1 border-b border-line">
          {PLACES.filter(({ needs }) => may(needs)).map(({ to, title }) => (
            <li key={to}>
              <Link
                to={to}
                activeOptions={{ includeSearch: false }}
                className="-mb-px block border-b-2 border-transparent px-3 py-1.5 whitespace-nowrap text-soft hover:text-ink"
                activeProps={{ className: 'border-accent! font-medium text-accent!' }}
              >
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Guarded needs={place.needs}>{children}</Guarded>
    </Page>
  );
}

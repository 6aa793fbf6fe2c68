import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../../parts/page.tsx';
import { sharedSearch, type UsageSearch } from './search.ts';

const TABS = [
  { to: '/usage', title: 'Explore' },
  { to: '/usage/requests', title: 'Requests' },
  { to: '/usage/calls', title: 'In flight' },
] as const;

interface UsagePageProps {
  readonly title: string;
  readonly question: string;
  /** The filters, which go along to the other tabs. */
  readonly search: UsageSearch;
  readonly acts?: ReactNode;
  readonly call: ReactNode;
  readonly children: ReactNode;
}

/** A page of usage: the tabs share their filters. */
export function UsagePage({ title, question, search, acts, call, children }: UsagePageProps) {
  const { as_of: _, ...shared } = sharedSearch(search);
  return (
    <Page title={title} question={question} acts={acts} call={call}>
      <nav aria-label="Usage" className="-mt-2 flex gap-1 border-b border-line">
        {TABS.map(({ to, title: name }) => (
          <Link
            key={to}
            to={to}
            search={to === '/usage/calls' ? {} : shared}
            activeOptions={{ exact: true, includeSearch: false }}
            className="-mb-px border-b-2 border-transparent px-3 py-1.5 text-soft hover:text-ink"
            activeProps={{ className: 'border-accent! font-medium text-ink!' }}
          >
            {name}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  );
}

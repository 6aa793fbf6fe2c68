import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Amount } from '../../parts/amount.ts';
import { counted } from '../../parts/figures.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Section } from '../../parts/page.tsx';
import type { ExploreSearch } from '../usage/explore/search.ts';
import type { Figure } from './picture.ts';

interface TopProps {
  readonly title: string;
  readonly query: Figure;
  readonly search: ExploreSearch;
  /** The name of a series, and the page of what it names. */
  readonly name: (group: string) => ReactNode;
  readonly pageOf: (group: string) => string;
  /** What was spent after the answer. */
  readonly more?: ReadonlyMap<string, Amount> | undefined;
}

/** The series of this month with the most spend, as bars to compare. */
export function Top({ title, query, search, name, pageOf, more }: TopProps) {
  return (
    <Section
      title={title}
      acts={
        <Link
          to="/usage"
          search={search}
          className="text-sm text-accent underline underline-offset-2"
        >
          All
        </Link>
      }
    >
      <div className="rounded-box border border-line bg-card px-4 py-2">
        <Loaded query={query} height="h-40">
          {({ series, other }) => {
            const rows = series.map((each) => ({
              ...each,
              usd: Amount.ofUsd(each.value ?? 0).plus(more?.get(each.group ?? '') ?? Amount.zero)
                .usd,
            }));
            const most = Math.max(...rows.map(({ usd }) => usd), 0);
            if (rows.length === 0)
              return <p className="py-1.5 text-soft">Nothing this month yet.</p>;
            return (
              <ol>
                {rows.map(({ group, usd }) => (
                  <li key={group} className="py-1.5">
                    <div className="flex justify-between gap-4">
                      {group === null ? (
                        <span className="text-soft">none</span>
                      ) : (
                        <Link to={pageOf(group)} className="min-w-0 truncate hover:text-accent">
                          {name(group)}
                        </Link>
                      )}
                      <Money usd={usd} />
                    </div>
                    <span aria-hidden="true" className="mt-1 block h-1 rounded-full bg-sunk">
                      <span
                        className="block h-full rounded-full bg-accent"
                        style={{ width: `${most > 0 ? (usd / most) * 100 : 0}%` }}
                      />
                    </span>
                  </li>
                ))}
                {other ? (
                  <li className="flex justify-between gap-4 py-1.5 text-soft">
                    <span>{counted(other.count, 'other')}</span>
                    <Money usd={other.value} />
                  </li>
                ) : null}
              </ol>
            );
          }}
        </Loaded>
      </div>
    </Section>
  );
}

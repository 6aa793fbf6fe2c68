import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count, counted, percent } from '../../parts/figures.ts';
import { Money } from '../../parts/money.tsx';
import { rateOf } from './rows.ts';
import type { CacheRange } from './search.ts';

interface TotalsProps {
  /** USD. */
  readonly saved: number;
  readonly hits: number;
  readonly lookups: number;
  readonly range: CacheRange;
}

/** What all hits saved, and how many of the look-ups they were. */
export function Totals({ saved, hits, lookups, range }: TotalsProps) {
  const rate = rateOf(hits, lookups);
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <Total title="Saved" below="what the hits would have cost, less their charge">
        <Money usd={saved} className="font-semibold!" />
      </Total>
      <Total title="Hit rate" below={`of ${counted(lookups, 'look-up')}`}>
        {rate === null ? 'unknown' : percent(rate)}
      </Total>
      <Total title="Hits" below="calls that got an earlier answer">
        <Link
          to="/usage/requests"
          search={{ outcome: 'cached', range }}
          className="rounded underline decoration-edge underline-offset-4 hover:text-accent"
        >
          {count(hits)}
        </Link>
      </Total>
    </div>
  );
}

interface TotalProps {
  readonly title: string;
  readonly below: string;
  readonly children: ReactNode;
}

function Total({ title, below, children }: TotalProps) {
  return (
    <div className="grid min-w-0 content-start gap-0.5 rounded-box border border-line bg-card p-4">
      <h2 className="text-sm text-soft">{title}</h2>
      <p className="text-2xl font-semibold tracking-tight">{children}</p>
      <p className="text-sm text-soft">{below}</p>
    </div>
  );
}

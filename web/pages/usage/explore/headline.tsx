import { Link } from '@tanstack/react-router';
import type { UsageQuery } from '../../../api/types.ts';
import { counted } from '../../../parts/figures.ts';
import { Money } from '../../../parts/money.tsx';
import { instantOf } from '../search.ts';
import { changeOf, type Figures } from './figures.ts';
import { type ExploreSearch, METRICS, type MetricName, requestsBehind } from './search.ts';

interface HeadlineProps {
  readonly answer: UsageQuery;
  readonly figures: Figures;
  readonly search: ExploreSearch;
}

/** The figure of the whole range, and the requests that it is made of. */
export function Headline({ answer, figures, search }: HeadlineProps) {
  const value = figures.of(answer.total.value);
  const before = answer.total.previous ? figures.of(answer.total.previous.value) : null;
  const change = changeOf(value, before);
  return (
    <div className="flex flex-wrap items-baseline gap-x-6 gap-y-1">
      <h2 className="text-soft">{METRICS[answer.metric as MetricName]}</h2>
      <Figure value={value} figures={figures} className="text-2xl font-semibold" />
      {answer.total.previous === null ? null : (
        <span className="text-soft">
          {change === undefined ? '' : `${change}, `}before:{' '}
          <Figure value={before} figures={figures} />
        </span>
      )}
      <span className="ml-auto text-sm text-soft">
        <Link
          to="/usage/requests"
          search={requestsBehind(search, answer, undefined)}
          className="text-ink underline decoration-edge underline-offset-2 hover:decoration-ink"
        >
          {counted(answer.total.requests, 'request')}
        </Link>
        , as of {new Date(instantOf(answer.as_of)).toLocaleTimeString()}
      </span>
    </div>
  );
}

interface FigureProps {
  readonly value: number | null;
  readonly figures: Figures;
  /** The decimals of money. */
  readonly places?: number | undefined;
  readonly className?: string;
}

/** A figure of a metric. Money has its exact amount as its title. */
export function Figure({ value, figures, places, className = '' }: FigureProps) {
  if (figures.isMoney) return <Money usd={value} places={places} className={className} />;
  if (value === null) return <span className="text-soft">unknown</span>;
  return <span className={`figures whitespace-nowrap ${className}`}>{figures.show(value)}</span>;
}

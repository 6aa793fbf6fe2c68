import { Amount } from '../../parts/amount.ts';
import { Bars } from '../../plots/bars.tsx';
import { figuresOf } from '../usage/explore/figures.ts';
import type { Picture } from './picture.ts';
import { type Seen, sinceOf } from './since.ts';

const money = figuresOf('cost');
const hour = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });

/** The spend of the last hours, each a link to its calls. */
export function Hours({
  answer,
  seen,
}: {
  answer: NonNullable<Picture['hours']['data']>;
  seen: readonly Seen[];
}) {
  const since = sinceOf(answer.as_of, seen);
  const starts = answer.buckets.map((bucket) => Date.parse(bucket));
  const bars = answer.buckets.map((startDate, index) => {
    const value = answer.total.values[index] ?? null;
    const end = starts[index + 1];
    const isNow = end === undefined;
    return {
      label: `${hour.format(starts[index])} – ${isNow ? 'now' : hour.format(end)}`,
      value: isNow && value !== null ? Amount.ofUsd(value).plus(since.amount).usd : value,
      search: {
        startDate,
        endDate: isNow ? undefined : new Date(end - 1).toISOString(),
        ...{ running: 'false', as_of: since.as_of },
      },
    };
  });
  return <Bars title="Spend by hour" bars={bars} format={money.show} to="/usage/requests" />;
}

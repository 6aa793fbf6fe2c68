import { Amount } from '../../parts/amount.ts';
import { Money } from '../../parts/money.tsx';
import { instantOf } from '../usage/search.ts';
import { forecastOf, monthsOf } from './months.ts';
import type { Picture } from './picture.ts';
import { type Seen, sinceOf } from './since.ts';
import { Stat } from './stat.tsx';

/** What was spent today and in this month, and what the month may come to. */
export function Spend({ months, seen }: { months: Picture['months']; seen: readonly Seen[] }) {
  const since = months.data && sinceOf(months.data.as_of, seen);
  const at_ms = since ? instantOf(since.as_of) : 0;
  const sums = months.data && monthsOf(months.data, instantOf(months.data.as_of));
  const more = since?.amount ?? Amount.zero;
  const this_month = sums?.this_month.plus(more);
  const forecast =
    sums && this_month
      ? forecastOf({ ...sums, this_month, recent: withLast(sums.recent, more) }, at_ms)
      : undefined;
  return (
    <>
      <Stat
        title="Spend today"
        to="/usage"
        search={{ range: 'today', as_of: since?.as_of }}
        of={months}
        below="since midnight"
      >
        <Money usd={sums?.today.plus(more).usd} className="font-semibold" />
      </Stat>
      <Stat
        title="Spend this month"
        to="/usage"
        search={{ range: 'month', as_of: since?.as_of }}
        of={months}
        below={
          <>
            <span title="So far, and the spend of the last seven days for the days that are left">
              about <Money usd={forecast} /> at the month’s end
            </span>
            <span className="block">
              last month <Money usd={sums?.last_month.usd} />,{' '}
              <Money usd={sums?.last_month_until_now.usd} /> by this day
            </span>
          </>
        }
      >
        <Money usd={this_month?.usd} className="font-semibold" />
      </Stat>
    </>
  );
}

/** Adds what was spent since to the last day. */
const withLast = (days: readonly Amount[], more: Amount): Amount[] =>
  days.map((day, index) => (index === days.length - 1 ? day.plus(more) : day));

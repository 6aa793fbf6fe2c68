import { useMemo } from 'react';
import type { Statement } from '../../api/types.ts';
import { Amount } from '../../parts/amount.ts';
import { TimePlot } from '../../plots/time-plot.tsx';
import { everyDayOf } from './month.ts';

const shortUsd = (value: number): string => Amount.ofUsd(value).short;

/** The charges of a month by day of UTC. A day without a charge is zero, a day to come is not there. */
export function MonthPlot({ statement: { month, by_day, as_of } }: { statement: Statement }) {
  const until = as_of.slice(0, 10);
  const days = useMemo(() => everyDayOf(month, new Date(until)), [month, until]);
  const times = useMemo(() => days.map((day) => Date.parse(day)), [days]);
  const series = useMemo(() => {
    const amounts = new Map(by_day.map(({ name, amount }) => [name, amount]));
    return [{ name: 'Charged', values: days.map((day) => amounts.get(day) ?? 0) }];
  }, [days, by_day]);
  return (
    <TimePlot
      title="Charges by day (UTC)"
      times={times}
      series={series}
      format={shortUsd}
      height={180}
    />
  );
}

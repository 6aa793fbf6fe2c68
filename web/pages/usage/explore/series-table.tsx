import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { UsageQuery } from '../../../api/types.ts';
import { placesFor } from '../../../parts/amount.ts';
import { Empty } from '../../../parts/empty.tsx';
import { count, percent } from '../../../parts/figures.ts';
import { type Column, Table } from '../../../parts/table.tsx';
import { colorOf, SERIES_COLORS } from '../../../plots/time-plot.tsx';
import { changeOf, type Figures } from './figures.ts';
import { Figure } from './headline.tsx';
import type { Row } from './rows.ts';
import { type ExploreSearch, GROUPS, type GroupName, requestsBehind } from './search.ts';

interface SeriesTableProps {
  readonly answer: UsageQuery;
  readonly rows: readonly Row[];
  readonly figures: Figures;
  readonly search: ExploreSearch;
}

/** A line of the table: a series, or all that are not among the largest. */
interface Line {
  readonly name: string;
  readonly color: string | undefined;
  readonly values: Pick<UsageQuery['total'], 'value' | 'previous' | 'requests'>;
  /** Missing for the sum of the others, which no filter names. */
  readonly row?: Row | undefined;
}

const LINK = 'underline decoration-edge underline-offset-2 hover:decoration-ink';

/** The series with their sums. Their sum is that of the whole, and each count opens its requests. */
export function SeriesTable({ answer, rows, figures, search }: SeriesTableProps) {
  const { total, other, group, subgroup } = answer;
  if (total.requests === 0) {
    return (
      <Empty title="Nothing was used in this time">
        Choose a longer time or fewer filters. A call counts here within seconds after it ends.
      </Empty>
    );
  }
  if (group === null) return null;
  const lines: Line[] = rows.map((row, index) => ({
    name: row.name,
    color:
      index < SERIES_COLORS.length - 1 || rows.length <= SERIES_COLORS.length
        ? colorOf(index)
        : undefined,
    values: row.series,
    row,
  }));
  if (other) {
    const name = `${count(other.count)} others`;
    lines.push({ name, color: undefined, values: other });
  }
  const title = [group, subgroup]
    .flatMap((name) => (name === null ? [] : [GROUPS[name as GroupName].label]))
    .join(' · ');
  return (
    <Table<Line>
      caption={`Sums by ${title}`}
      columns={columnsOf(title, answer, figures, search)}
      rows={lines}
      keyOf={({ name }) => name}
      foot={
        <tr className="font-medium">
          <th scope="row" className="px-3 py-2 pl-4 text-left font-medium">
            All
          </th>
          <Cell>
            <Figure
              value={figures.of(total.value)}
              figures={figures}
              places={placesFor(total.value ?? 0)}
            />
          </Cell>
          {figures.isSum ? <Cell onPhone={false}>100 %</Cell> : null}
          {total.previous ? <Cell onPhone={false}>{changeText(total, figures)}</Cell> : null}
          <Cell>
            <Link
              to="/usage/requests"
              search={requestsBehind(search, answer, undefined)}
              className={LINK}
            >
              {count(total.requests)}
            </Link>
          </Cell>
        </tr>
      }
    />
  );
}

function Cell({ children, onPhone = true }: { children: ReactNode; onPhone?: boolean }) {
  return (
    <td className={`px-3 py-2 text-right figures last:pr-4 ${onPhone ? '' : 'max-sm:hidden'}`}>
      {children}
    </td>
  );
}

const changeText = ({ value, previous }: Line['values'], figures: Figures): string =>
  changeOf(figures.of(value), previous ? figures.of(previous.value) : null) ?? '–';

function columnsOf(
  title: string,
  answer: UsageQuery,
  figures: Figures,
  search: ExploreSearch,
): Column<Line>[] {
  const whole = answer.total.value;
  return [
    {
      title,
      cell: ({ name, color }) => (
        <span className="flex items-baseline gap-2">
          <span
            aria-hidden="true"
            className="size-2.5 shrink-0 rounded-sm bg-sunk"
            style={color === undefined ? {} : { background: color }}
          />
          <bdi className="min-w-24">{name}</bdi>
        </span>
      ),
    },
    {
      title: figures.isSum ? 'Sum' : 'Figure',
      align: 'right',
      cell: ({ values }) => (
        <Figure value={figures.of(values.value)} figures={figures} places={placesFor(whole ?? 0)} />
      ),
    },
    ...(figures.isSum
      ? [
          {
            title: 'Share',
            align: 'right' as const,
            onPhone: false as const,
            cell: ({ values }: Line) =>
              whole && values.value !== null ? percent(values.value / whole) : '–',
          },
        ]
      : []),
    ...(answer.previous
      ? [
          {
            title: 'Change',
            align: 'right' as const,
            onPhone: false as const,
            cell: ({ values }: Line) => changeText(values, figures),
          },
        ]
      : []),
    {
      title: 'Requests',
      align: 'right',
      cell: ({ values, row }) =>
        row === undefined ? (
          count(values.requests)
        ) : (
          <Link
            to="/usage/requests"
            search={requestsBehind(search, answer, row.series)}
            className={LINK}
            aria-label={`${count(values.requests)} requests of ${row.name}`}
          >
            {count(values.requests)}
          </Link>
        ),
    },
  ];
}

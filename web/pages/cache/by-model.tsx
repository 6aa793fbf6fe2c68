import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { count, percent } from '../../parts/figures.ts';
import { Money } from '../../parts/money.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type CacheFigures, type ModelRow, rateOf, rowsOf } from './rows.ts';
import type { CacheRange } from './search.ts';

const columnsOf = (range: CacheRange): readonly Column<ModelRow>[] => [
  {
    title: 'Model',
    cell: ({ model }) =>
      model === null ? (
        <span className="text-soft">all others</span>
      ) : (
        <Link
          to="/usage/requests"
          search={{ logicalModel: model, outcome: 'cached', range }}
          className="text-ink underline decoration-edge underline-offset-2 hover:decoration-ink"
        >
          {model}
        </Link>
      ),
  },
  {
    ...{ title: 'Look-ups', align: 'right', onPhone: false },
    cell: ({ lookups }) => count(lookups),
  },
  { title: 'Hits', align: 'right', cell: ({ hits }) => count(hits) },
  {
    ...{ title: 'Hit rate', align: 'right' },
    cell: ({ hits, lookups }) => percent(rateOf(hits, lookups) ?? 0),
  },
  { title: 'Saved', align: 'right', cell: ({ saved }) => <Money usd={saved} /> },
];

/** The models that were looked up, each with its hits and what they saved. */
export function ByModel({ figures, range }: { figures: CacheFigures; range: CacheRange }) {
  const rows = useMemo(() => rowsOf(figures), [figures]);
  const columns = useMemo(() => columnsOf(range), [range]);
  return (
    <Table
      caption="The cache by model"
      rows={rows}
      keyOf={({ model }) => model ?? ''}
      columns={columns}
    />
  );
}

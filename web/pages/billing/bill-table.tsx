import type { Statement } from '../../api/types.ts';
import { Amount } from '../../parts/amount.ts';
import { GoLink } from '../../parts/go-link.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ExactMoney } from './exact-money.tsx';
import { type BillRow, GROUPS, rangeOf, rowsOf } from './groups.ts';
import type { BillGroup } from './search.ts';

/** The lines of a month by a group, and their sum. Each amount leads to the requests that it sums. */
export function BillTable({ statement, group }: { statement: Statement; group: BillGroup }) {
  const rows = rowsOf(statement, group);
  const sum = Amount.sum(rows.map(({ amount }) => amount));
  const charges = rows.reduce((total, row) => total + row.charges, 0);
  const hasTokens = group !== 'key';
  const columns: Column<BillRow>[] = [
    { title: GROUPS[group].what, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      title: 'Charges',
      align: 'right',
      onPhone: false,
      cell: (row) => row.charges.toLocaleString(),
    },
    ...(hasTokens ? TOKEN_COLUMNS : []),
    {
      title: 'Amount, USD',
      align: 'right',
      cell: ({ amount, filter }) =>
        filter ? (
          <GoLink to="/usage/requests" query={filter}>
            <ExactMoney amount={Amount.ofUsd(amount)} />
          </GoLink>
        ) : (
          <ExactMoney amount={Amount.ofUsd(amount)} />
        ),
    },
  ];
  return (
    <div className="grid gap-2">
      <Table
        caption={`Charges by ${GROUPS[group].what}`}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        foot={
          <tr className="font-medium">
            <th scope="row" className="px-3 py-2 pl-4 text-left font-medium">
              Sum
            </th>
            <td className="px-3 py-2 text-right figures max-sm:hidden">
              {charges.toLocaleString()}
            </td>
            {hasTokens ? <td colSpan={2} className="max-sm:hidden" /> : null}
            <td className="px-3 py-2 pr-4 text-right figures" data-sum>
              <GoLink to="/usage/requests" query={rangeOf(statement)}>
                <ExactMoney amount={sum} />
              </GoLink>
            </td>
          </tr>
        }
      />
      <SumCheck sum={sum} total={Amount.ofUsd(statement.charged.amount)} />
    </div>
  );
}

const TOKEN_COLUMNS: readonly Column<BillRow>[] = [
  {
    title: 'Input tokens',
    align: 'right',
    onPhone: false,
    cell: ({ input_tokens }) => input_tokens?.toLocaleString(),
  },
  {
    title: 'Output tokens',
    align: 'right',
    onPhone: false,
    cell: ({ output_tokens }) => output_tokens?.toLocaleString(),
  },
];

/** Compares the sum of the rows with what the ledger charged. Both are exact, so they are equal. */
function SumCheck({ sum, total }: { sum: Amount; total: Amount }) {
  if (sum.nano === total.nano) return null;
  return (
    <p role="alert" className="rounded-control bg-bad-soft px-3 py-1.5 text-bad">
      The rows sum to {sum.exact}, but {total.exact} was charged. Report this to whoever operates
      Weir.
    </p>
  );
}

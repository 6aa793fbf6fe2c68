import type { Statement } from '../../api/types.ts';
import { Amount } from '../../parts/amount.ts';
import { Empty } from '../../parts/empty.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { ExactMoney } from './exact-money.tsx';

type Deposit = Statement['deposits'][number];

const KINDS: Readonly<Record<Deposit['kind'], string>> = {
  payment: 'Payment',
  credit: 'Credit',
  credit_return: 'Credit returned',
};

const COLUMNS: readonly Column<Deposit>[] = [
  {
    title: 'When',
    cell: ({ created_at, kind }) => (
      <>
        <Time at={created_at} />
        <div className="text-sm text-soft sm:hidden">{KINDS[kind]}</div>
      </>
    ),
  },
  {
    title: 'Kind',
    onPhone: false,
    cell: ({ kind }) => <span className="whitespace-nowrap">{KINDS[kind]}</span>,
  },
  {
    title: 'Reference',
    onPhone: false,
    cell: ({ reference, note }) => (
      <>
        <bdi>{reference ?? '–'}</bdi>
        {note === '' ? null : <div className="text-sm text-soft">{note}</div>}
      </>
    ),
  },
  {
    title: 'Amount, USD',
    align: 'right',
    cell: ({ amount }) => <ExactMoney amount={Amount.ofUsd(amount)} />,
  },
];

/** The deposits of a month and their sum. */
export function Deposits({ statement: { deposits, credit, deposited } }: { statement: Statement }) {
  if (deposits.length === 0) {
    return (
      <Empty title="No deposits in this month">
        Operators book each payment as a deposit with its reference. It is available at once.
      </Empty>
    );
  }
  const sum = Amount.ofUsd(deposited).plus(Amount.ofUsd(credit));
  return (
    <Table
      caption="Deposits"
      columns={COLUMNS}
      rows={deposits}
      keyOf={({ id }) => id}
      foot={
        <tr className="font-medium">
          <th scope="row" className="px-3 py-2 pl-4 text-left font-medium">
            Sum
          </th>
          <td colSpan={2} className="max-sm:hidden" />
          <td className="px-3 py-2 pr-4 text-right figures">
            <ExactMoney amount={sum} />
          </td>
        </tr>
      }
    />
  );
}

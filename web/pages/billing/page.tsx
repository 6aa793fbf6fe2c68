import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Statement, UsageQuery } from '../../api/types.ts';
import { Budgets } from '../../budgets/budgets.tsx';
import { budgetsQuery } from '../../budgets/data.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import type { Beginning } from '../../shell/begin.ts';
import { Guarded } from '../../shell/guarded.tsx';
import { useHere } from '../../shell/here.ts';
import { BalanceCard } from './balance-card.tsx';
import { BillTable } from './bill-table.tsx';
import { beginBilling, useMonths, useStatement } from './data.ts';
import { Deposits } from './deposits.tsx';
import { GROUPS } from './groups.ts';
import { monthOf, nameOf } from './month.ts';
import { MonthPlot } from './month-plot.tsx';
import { PartBudgets } from './part-budgets.tsx';
import { BALANCE_PATH, MONTHS_PATH, monthsQuery, statementPath } from './reads.ts';
import type { BillGroup } from './search.ts';

/** Begins the reads of the page. */
export function begin({ queries, here }: Beginning): void {
  if (!here.may('billing.read')) return;
  beginBilling(queries, monthOf(new Date()));
  if (here.may('budgets.read')) queries.prefetchQuery(budgetsQuery);
}

/** Does the bill add up? */
export function BillingPage() {
  const month = monthOf(new Date());
  const { may } = useHere();
  return (
    <Page title="Billing" question="Does the bill add up?" call={<ApiCall path={BALANCE_PATH} />}>
      <Guarded needs="billing.read">
        <BalanceCard />
        {may('budgets.read') ? (
          <>
            <Budgets api_key_id={null} />
            <PartBudgets />
          </>
        ) : null}
        <ThisMonth month={month} />
        <Months month={month} />
      </Guarded>
    </Page>
  );
}

function ThisMonth({ month }: { month: string }) {
  const statement = useStatement(month);
  return (
    <Section
      title={`${nameOf(month)}, until now`}
      acts={
        <Link to="/billing/$month" params={{ month }} className="text-accent hover:underline">
          Statement to print
        </Link>
      }
    >
      <Loaded query={statement} height="h-96">
        {(value) => <Month statement={value} />}
      </Loaded>
      <ApiCall path={statementPath(month)} />
    </Section>
  );
}

function Month({ statement }: { statement: Statement }) {
  const { by = 'model' } = useSearch({ from: '/inside/billing' });
  const navigate = useNavigate();
  return (
    <>
      <Card className="grid gap-3">
        <p>
          <Money usd={statement.charged.amount} className="text-2xl font-semibold!" />{' '}
          <span className="text-soft">
            charged
            {statement.held > 0 ? (
              <>
                , and <Money usd={statement.held} /> held by tasks that still run
              </>
            ) : null}
          </span>
        </p>
        <MonthPlot statement={statement} />
      </Card>
      <fieldset className="flex flex-wrap gap-1" aria-label="Charges by">
        {(Object.keys(GROUPS) as BillGroup[]).map((group) => (
          <button
            key={group}
            type="button"
            aria-pressed={group === by}
            onClick={() => navigate({ to: '/billing', search: { by: group }, replace: true })}
            className="min-h-8 rounded-control px-2.5 text-soft hover:bg-sunk aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
          >
            {GROUPS[group].title}
          </button>
        ))}
      </fieldset>
      {statement.charged.requests === 0 ? (
        <p className="text-soft">
          Nothing was charged in this month yet. Each charged call is a line here at once.
        </p>
      ) : (
        <BillTable statement={statement} group={by} />
      )}
      <h3 className="mt-2 font-semibold">Deposits</h3>
      <Deposits statement={statement} />
    </>
  );
}

interface MonthRow {
  readonly month: string;
  readonly amount: number | null;
}

const MONTH_COLUMNS: readonly Column<MonthRow>[] = [
  {
    title: 'Month',
    cell: ({ month }) => (
      <Link to="/billing/$month" params={{ month }} className="text-accent hover:underline">
        {nameOf(month)}
      </Link>
    ),
  },
  { title: 'Charged', align: 'right', cell: ({ amount }) => <Money usd={amount} exact /> },
];

function Months({ month }: { month: string }) {
  const navigate = useNavigate();
  const rowsOf = ({ buckets, total }: UsageQuery): MonthRow[] =>
    buckets
      .map((start, at) => ({ month: start.slice(0, 7), amount: total.values[at] ?? null }))
      .toReversed();
  return (
    <Section title="Months">
      <Loaded query={useMonths(month)} height="h-40">
        {(usage) => (
          <Table
            caption="Months"
            columns={MONTH_COLUMNS}
            rows={rowsOf(usage)}
            keyOf={(row) => row.month}
            onOpen={(row) => navigate({ to: '/billing/$month', params: { month: row.month } })}
          />
        )}
      </Loaded>
      <ApiCall path={MONTHS_PATH} query={monthsQuery(month)} />
    </Section>
  );
}

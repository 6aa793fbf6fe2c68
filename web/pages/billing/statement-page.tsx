import { Link, useParams } from '@tanstack/react-router';
import type { Statement } from '../../api/types.ts';
import { Amount } from '../../parts/amount.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import { localTime } from '../../parts/time.tsx';
import { Guarded } from '../../shell/guarded.tsx';
import { useHere } from '../../shell/here.ts';
import { Missing } from '../../shell/missing.tsx';
import { BillTable } from './bill-table.tsx';
import { useStatement } from './data.ts';
import { Deposits } from './deposits.tsx';
import { ExactMoney } from './exact-money.tsx';
import { GROUPS } from './groups.ts';
import { isMonth, monthAfter, monthOf, nameOf } from './month.ts';
import { statementPath } from './reads.ts';
import type { BillGroup } from './search.ts';

/** The statement of a month, to read and to print. */
export function StatementPage() {
  const { month } = useParams({ from: '/inside/billing/$month' });
  if (!isMonth(month)) return <Missing />;
  return <Month key={month} month={month} />;
}

function Month({ month }: { month: string }) {
  const statement = useStatement(month);
  const next = monthAfter(month, 1);
  return (
    <Page
      title={`Statement, ${nameOf(month)}`}
      question={
        <Link to="/billing" className="text-accent underline print:hidden">
          Billing
        </Link>
      }
      acts={
        <span className="flex flex-wrap items-center gap-2 print:hidden">
          <MonthLink month={monthAfter(month, -1)} sign="←" />
          {next <= monthOf(new Date()) ? <MonthLink month={next} sign="→" /> : null}
          <Button kind="primary" onClick={() => print()}>
            Print
          </Button>
        </span>
      }
      call={
        <div className="print:hidden">
          <ApiCall path={statementPath(month)} />
        </div>
      }
    >
      <Guarded needs="billing.read">
        <Loaded query={statement} height="h-96">
          {(value) => <Shown statement={value} />}
        </Loaded>
      </Guarded>
    </Page>
  );
}

function MonthLink({ month, sign }: { month: string; sign: string }) {
  return (
    <Link
      to="/billing/$month"
      params={{ month }}
      aria-label={`Statement of ${nameOf(month)}`}
      className="inline-flex min-h-9 items-center rounded-control border border-edge bg-card px-3 py-1 hover:bg-sunk"
    >
      {sign} {nameOf(month)}
    </Link>
  );
}

function Shown({ statement }: { statement: Statement }) {
  const { organization } = useHere();
  const { charged, deposited, credit, held, is_final, as_of } = statement;
  const figures = [
    ['Charged', charged.amount],
    ['Deposited', deposited],
    ['Credit', credit],
    ['Held by tasks that still run', held],
  ] as const;
  return (
    <>
      <Card className="grid gap-3">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="text-lg font-semibold">
            <bdi>{organization?.name}</bdi>
          </p>
          <Badge tone={is_final ? 'good' : 'warn'}>
            {is_final ? 'final' : 'not final: amounts may still grow'}
          </Badge>
        </div>
        <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-6 gap-y-1 sm:max-w-md">
          {figures.map(([name, usd]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="text-right">
                <ExactMoney amount={Amount.ofUsd(usd)} />
              </dd>
            </div>
          ))}
        </dl>
        <p className="text-sm text-soft">
          All amounts are in USD, exact to the nano-dollar. A charge belongs to the month, in UTC,
          in which its call began. As of {localTime(as_of.split('~')[0] ?? as_of)}.
        </p>
      </Card>
      <Section title="Deposits">
        <Deposits statement={statement} />
      </Section>
      {charged.requests === 0 ? (
        <p className="text-soft">Nothing was charged in this month.</p>
      ) : (
        (Object.keys(GROUPS) as BillGroup[]).map((group) => (
          <Section key={group} title={GROUPS[group].title}>
            <BillTable statement={statement} group={group} />
          </Section>
        ))
      )}
    </>
  );
}

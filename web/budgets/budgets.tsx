import { useState } from 'react';
import type { Budget } from '../api/types.ts';
import { ApiCall, curlOf } from '../parts/api-call.tsx';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Section } from '../parts/page.tsx';
import { useHere } from '../shell/here.ts';
import { BudgetCard } from './budget-card.tsx';
import { BUDGETS_PATH, useBudgets } from './data.ts';
import { NewBudgetDialog } from './new-budget-dialog.tsx';
import { isOfAll } from './owner.ts';
import { inOrder, PERIODS } from './periods.ts';

interface BudgetsProps {
  /** The API key; null for the whole organization. */
  readonly api_key_id: string | null;
  /** False if the key was deleted, so that its budgets limit nothing. */
  readonly canChange?: boolean;
}

/** What a key or the organization may spend in each day, week and month, and what is left of it. */
export function Budgets({ api_key_id, canChange = true }: BudgetsProps) {
  const budgets = useBudgets();
  const canWrite = useHere().may('budgets.write') && canChange;
  const [isAdding, add] = useState(false);
  const own = inOrder((budgets.data ?? []).filter((each) => isOf(each, api_key_id)));
  const free = PERIODS.filter((period) => !own.some((each) => each.period === period));
  const isKnown = budgets.data !== undefined;
  return (
    <Section
      title="Budgets"
      acts={
        canWrite && isKnown && free.length > 0 ? (
          <Button onClick={() => add(true)}>Add a budget</Button>
        ) : undefined
      }
    >
      <Loaded query={budgets} height="h-28">
        {() =>
          own.length === 0 ? (
            <NoBudgets api_key_id={api_key_id} />
          ) : (
            <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
              {own.map((budget) => (
                <BudgetCard key={budget.id} of={budget} canWrite={canWrite} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <ApiCall path={BUDGETS_PATH} />
      {isAdding ? (
        <NewBudgetDialog
          owner={api_key_id === null ? 'organization' : { api_key_id }}
          periods={free}
          onClose={() => add(false)}
        />
      ) : null}
    </Section>
  );
}

/** True if a budget is of a key, or of the whole organization, and of nothing else. */
const isOf = (budget: Budget, api_key_id: string | null): boolean =>
  api_key_id === null ? isOfAll(budget) : budget.api_key_id === api_key_id;

function NoBudgets({ api_key_id }: { api_key_id: string | null }) {
  const body = {
    ...(api_key_id === null ? {} : { api_key_id }),
    ...{ period: 'day', limit_amount: 20 },
  };
  return (
    <Empty title="No budget" command={curlOf({ method: 'POST', path: BUDGETS_PATH, body })}>
      {api_key_id === null
        ? 'A budget limits what the whole organization spends in each day, week or month. So a mistake of one night does not spend the balance.'
        : 'A budget limits what this key spends in each day, week or month. It begins again by itself; the cap never does.'}
    </Empty>
  );
}

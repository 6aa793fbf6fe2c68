import { useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import type { Budget } from '../api/types.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Money } from '../parts/money.tsx';
import { say } from '../parts/said.tsx';
import { budgetPath, rereadBudgets } from './data.ts';
import { nameOf, tagOf } from './owner.ts';

interface DeleteBudgetProps {
  readonly of: Budget;
  /** The name of the key or the tag, if the page shows the budgets of several. */
  readonly owner?: string;
  readonly onClose: () => void;
}

/** Deletes a budget after a confirmation. */
export function DeleteBudget({ of: budget, owner, onClose }: DeleteBudgetProps) {
  const queries = useQueryClient();
  const { id, period, limit_amount } = budget;
  const name = nameOf(budget, owner);
  const work = async () => {
    await api.delete(budgetPath(id));
    await rereadBudgets(queries);
    say(`The ${name} is deleted.`);
  };
  return (
    <Confirm title={`Delete the ${name}?`} label="Delete the budget" act={work} onClose={onClose}>
      <p>
        Nothing limits the spend of a {period} to <Money usd={limit_amount} /> any more. Caps, other
        budgets and the balance still apply.
      </p>
      <p className="text-soft">
        What was spent stays in Usage and Billing. A new budget{' '}
        {tagOf(budget) === undefined
          ? `counts the present ${period} from its beginning.`
          : 'of this tag counts only calls that begin after it was made.'}
      </p>
    </Confirm>
  );
}

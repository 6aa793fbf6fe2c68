import { useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import type { Budget } from '../api/types.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Money } from '../parts/money.tsx';
import { say } from '../parts/said.tsx';
import { budgetPath, rereadBudgets } from './data.ts';

/** Deletes a budget after a confirmation. */
export function DeleteBudget({ of: budget, onClose }: { of: Budget; onClose: () => void }) {
  const queries = useQueryClient();
  const { id, period, limit_amount } = budget;
  const work = async () => {
    await api.delete(budgetPath(id));
    await rereadBudgets(queries);
    say(`The budget of each ${period} is deleted.`);
  };
  return (
    <Confirm
      title={`Delete the budget of each ${period}?`}
      label="Delete the budget"
      act={work}
      onClose={onClose}
    >
      <p>
        Nothing limits the spend of a {period} to <Money usd={limit_amount} /> any more. Caps, other
        budgets and the balance still apply.
      </p>
      <p className="text-soft">
        What was spent stays in Usage and Billing. A new budget counts the present {period} from its
        beginning.
      </p>
    </Confirm>
  );
}

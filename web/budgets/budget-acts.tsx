import type { Budget } from '../api/types.ts';
import { ChangeBudgetDialog } from './change-budget-dialog.tsx';
import { DeleteBudget } from './delete-budget.tsx';

/** An act on a budget that has a dialog. */
export type BudgetAct = 'change' | 'delete';

interface BudgetActsProps {
  readonly of: Budget;
  /** The name of the key or the tag, if the page shows the budgets of several. */
  readonly owner?: string;
  /** The act whose dialog is open. */
  readonly act: BudgetAct | undefined;
  readonly onClose: () => void;
}

/** The dialog of an act on a budget. */
export function BudgetActDialog({ act, ...props }: BudgetActsProps) {
  if (act === 'change') return <ChangeBudgetDialog {...props} />;
  return act === 'delete' ? <DeleteBudget {...props} /> : null;
}

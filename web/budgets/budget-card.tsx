import { useState } from 'react';
import type { Budget } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { CapBar } from '../parts/cap-bar.tsx';
import { Facts } from '../parts/facts.tsx';
import { Money } from '../parts/money.tsx';
import { Time } from '../parts/time.tsx';
import { ChangeBudgetDialog } from './change-budget-dialog.tsx';
import { saysWhenReached } from './choice.ts';
import { DeleteBudget } from './delete-budget.tsx';
import { PERIOD_SAYS } from './periods.ts';

interface BudgetCardProps {
  readonly of: Budget;
  readonly canWrite: boolean;
}

/** A budget: what is used, held and free in its present window, and when the next one begins. */
export function BudgetCard({ of: budget, canWrite }: BudgetCardProps) {
  const { period, used_amount, held_amount, free_amount, limit_amount, window, when_reached } =
    budget;
  const [open, setOpen] = useState<'change' | 'delete'>();
  const close = () => setOpen(undefined);
  return (
    <li className="grid min-w-0 content-start gap-3 rounded-box border border-line bg-card p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-medium">{PERIOD_SAYS[period]}</h3>
        {free_amount <= 0 ? <Badge tone="bad">used up</Badge> : null}
      </div>
      <CapBar used={used_amount} held={held_amount} cap={limit_amount} />
      <Facts
        facts={[
          ['Used', <Money key="used" usd={used_amount} exact />],
          ['Held by running calls', <Money key="held" usd={held_amount} exact />],
          ['Free', <Money key="free" usd={free_amount} exact />],
          ['When reached', <bdi key="reached">{saysWhenReached(when_reached)}</bdi>],
          [
            'Begins again',
            <span key="resets">
              <Time at={window.resets_at} ago />{' '}
              <span className="text-soft">({window.time_zone})</span>
            </span>,
          ],
        ]}
      />
      {canWrite ? (
        <div className="-mb-1 -ml-3 flex flex-wrap gap-1">
          <Button
            kind="quiet"
            aria-label={`Change the budget of each ${period}`}
            onClick={() => setOpen('change')}
          >
            Change…
          </Button>
          <Button
            kind="quiet"
            aria-label={`Delete the budget of each ${period}`}
            onClick={() => setOpen('delete')}
          >
            Delete…
          </Button>
        </div>
      ) : null}
      {open === 'change' ? <ChangeBudgetDialog of={budget} onClose={close} /> : null}
      {open === 'delete' ? <DeleteBudget of={budget} onClose={close} /> : null}
    </li>
  );
}

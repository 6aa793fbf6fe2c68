import { useState } from 'react';
import type { Budget } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { CapBar } from '../parts/cap-bar.tsx';
import { Facts } from '../parts/facts.tsx';
import { Money } from '../parts/money.tsx';
import { Time } from '../parts/time.tsx';
import { type BudgetAct, BudgetActDialog } from './budget-acts.tsx';
import { saysWhenReached } from './choice.ts';
import { nameOf } from './owner.ts';
import { PERIOD_SAYS } from './periods.ts';

interface BudgetCardProps {
  readonly of: Budget;
  readonly canWrite: boolean;
}

/** A budget: what is used, held and free in its present window, and when the next one begins. */
export function BudgetCard({ of: budget, canWrite }: BudgetCardProps) {
  const { period, used_amount, held_amount, free_amount, limit_amount, window, when_reached } =
    budget;
  const [open, setOpen] = useState<BudgetAct>();
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
            aria-label={`Change the ${nameOf(budget)}`}
            onClick={() => setOpen('change')}
          >
            Change…
          </Button>
          <Button
            kind="quiet"
            aria-label={`Delete the ${nameOf(budget)}`}
            onClick={() => setOpen('delete')}
          >
            Delete…
          </Button>
        </div>
      ) : null}
      <BudgetActDialog of={budget} act={open} onClose={() => setOpen(undefined)} />
    </li>
  );
}

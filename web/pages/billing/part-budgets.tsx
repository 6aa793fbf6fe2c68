import { useState } from 'react';
import { useKeyNames } from '../../api/key-names.ts';
import type { Budget } from '../../api/types.ts';
import { type BudgetAct, BudgetActDialog } from '../../budgets/budget-acts.tsx';
import { saysWhenReached } from '../../budgets/choice.ts';
import { BUDGETS_PATH, useBudgets } from '../../budgets/data.ts';
import { NewBudgetDialog } from '../../budgets/new-budget-dialog.tsx';
import { isOfAll, nameOf, tagOf } from '../../budgets/owner.ts';
import { PERIOD_SAYS, PERIODS } from '../../budgets/periods.ts';
import { curlOf } from '../../parts/api-call.tsx';
import { Button } from '../../parts/button.tsx';
import { CapBar } from '../../parts/cap-bar.tsx';
import { Empty } from '../../parts/empty.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Section } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useHere } from '../../shell/here.ts';

/** The budgets of single keys and tags, the fullest first, and the form for those of tags. */
export function PartBudgets() {
  const budgets = useBudgets();
  const canWrite = useHere().may('budgets.write');
  const [isAdding, add] = useState(false);
  return (
    <Section
      title="Budgets of keys and tags"
      acts={
        canWrite && budgets.data !== undefined ? (
          <Button onClick={() => add(true)}>Add a budget of a tag</Button>
        ) : undefined
      }
    >
      <Loaded query={budgets} height="h-28">
        {(all) => {
          const ofParts = all.filter((budget) => !isOfAll(budget));
          if (ofParts.length === 0) return <NoPartBudgets />;
          const fullest = ofParts.toSorted((a, b) => shareOf(b) - shareOf(a));
          return <Listed budgets={fullest} canWrite={canWrite} />;
        }}
      </Loaded>
      {isAdding ? (
        <NewBudgetDialog owner="tag" periods={PERIODS} onClose={() => add(false)} />
      ) : null}
    </Section>
  );
}

/** The part of a budget that is used. */
const shareOf = ({ limit_amount, used_amount }: Budget): number =>
  limit_amount === 0 ? 1 : used_amount / limit_amount;

function NoPartBudgets() {
  const body = { tag: { team: 'blue' }, period: 'week', limit_amount: 50 };
  return (
    <Empty
      title="No budget of a key or a tag"
      command={curlOf({ method: 'POST', path: BUDGETS_PATH, body })}
    >
      A budget of a tag limits the calls of all keys whose metadata have its name and value, e.g.
      those of one team. A budget of a key is added on the page of the key.
    </Empty>
  );
}

interface ListedProps {
  readonly budgets: readonly Budget[];
  readonly canWrite: boolean;
}

function Listed({ budgets, canWrite }: ListedProps) {
  const names = useKeyNames();
  const ownerOf = (budget: Budget): string =>
    tagOf(budget) ?? names?.get(budget.api_key_id ?? '') ?? budget.api_key_id ?? '';
  const columns: Column<Budget>[] = [
    {
      title: 'Of',
      cell: (budget) => {
        const { api_key_id, period } = budget;
        const owner = <bdi>{ownerOf(budget)}</bdi>;
        return (
          <div className="min-w-24">
            {api_key_id === null ? (
              owner
            ) : (
              <GoLink to={`/keys/${encodeURIComponent(api_key_id)}`}>{owner}</GoLink>
            )}
            <div className="text-sm text-soft sm:hidden">{PERIOD_SAYS[period]}</div>
          </div>
        );
      },
    },
    { title: 'Period', onPhone: false, cell: ({ period }) => PERIOD_SAYS[period] },
    {
      title: 'Used',
      cell: (budget) => (
        <div className="min-w-28 sm:min-w-32">
          <CapBar used={budget.used_amount} held={budget.held_amount} cap={budget.limit_amount} />
          {canWrite ? (
            <div className="mt-3 sm:hidden">
              <Acts of={budget} owner={ownerOf(budget)} />
            </div>
          ) : null}
        </div>
      ),
    },
    {
      title: 'Free',
      align: 'right',
      onPhone: false,
      cell: ({ free_amount }) => <Money usd={free_amount} />,
    },
    {
      title: 'When reached',
      onPhone: false,
      cell: ({ when_reached }) => <bdi>{saysWhenReached(when_reached)}</bdi>,
    },
    {
      title: 'Begins again',
      onPhone: false,
      cell: ({ window }) => <Time at={window.resets_at} ago />,
    },
  ];
  const acts: Column<Budget> = {
    title: 'Acts',
    isQuiet: true,
    onPhone: false,
    cell: (budget) => <Acts of={budget} owner={ownerOf(budget)} />,
  };
  return (
    <Table
      caption="Budgets of keys and tags"
      columns={canWrite ? [...columns, acts] : columns}
      rows={budgets}
      keyOf={({ id }) => id}
    />
  );
}

function Acts({ of: budget, owner }: { of: Budget; owner: string }) {
  const [open, setOpen] = useState<BudgetAct>();
  const name = nameOf(budget, owner);
  return (
    <div className="-my-1.5 flex max-sm:-ml-3 sm:-mr-3">
      <Button kind="quiet" aria-label={`Change the ${name}`} onClick={() => setOpen('change')}>
        Change…
      </Button>
      <Button kind="quiet" aria-label={`Delete the ${name}`} onClick={() => setOpen('delete')}>
        Delete…
      </Button>
      <BudgetActDialog of={budget} owner={owner} act={open} onClose={() => setOpen(undefined)} />
    </div>
  );
}

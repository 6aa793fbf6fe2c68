import { useNavigate } from '@tanstack/react-router';
import { useKeyNames } from '../../api/key-names.ts';
import type { Budget } from '../../api/types.ts';
import { useBudgets } from '../../budgets/data.ts';
import { PERIOD_SAYS } from '../../budgets/periods.ts';
import { CapBar } from '../../parts/cap-bar.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Money } from '../../parts/money.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

/** The budgets of single keys, the fullest first. Nothing if no key has one. */
export function KeyBudgets() {
  const { data = [] } = useBudgets();
  const ofKeys = data.flatMap((budget) =>
    budget.api_key_id === null ? [] : [{ ...budget, api_key_id: budget.api_key_id }],
  );
  if (ofKeys.length === 0) return null;
  return <Listed budgets={ofKeys.toSorted((a, b) => shareOf(b) - shareOf(a))} />;
}

type KeyBudget = Budget & { readonly api_key_id: string };

/** The part of a budget that is used. */
const shareOf = ({ limit_amount, used_amount }: Budget): number =>
  limit_amount === 0 ? 1 : used_amount / limit_amount;

function Listed({ budgets }: { budgets: readonly KeyBudget[] }) {
  const navigate = useNavigate();
  const names = useKeyNames();
  const columns: Column<KeyBudget>[] = [
    {
      title: 'Key',
      cell: ({ api_key_id }) => (
        <GoLink to={`/keys/${encodeURIComponent(api_key_id)}`}>
          <bdi>{names?.get(api_key_id) ?? api_key_id}</bdi>
        </GoLink>
      ),
    },
    { title: 'Period', cell: ({ period }) => PERIOD_SAYS[period] },
    {
      title: 'Used',
      cell: ({ used_amount, held_amount, limit_amount }) => (
        <div className="min-w-28 sm:min-w-40">
          <CapBar used={used_amount} held={held_amount} cap={limit_amount} />
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
      title: 'Begins again',
      onPhone: false,
      cell: ({ window }) => <Time at={window.resets_at} ago />,
    },
  ];
  return (
    <>
      <h3 className="mt-2 font-semibold">Budgets of keys</h3>
      <Table
        caption="Budgets of keys"
        columns={columns}
        rows={budgets}
        keyOf={({ id }) => id}
        onOpen={({ api_key_id }) => navigate({ to: '/keys/$id', params: { id: api_key_id } })}
      />
    </>
  );
}

import { useKeyNames } from '../../api/key-names.ts';
import type { Budget } from '../../api/types.ts';
import { useBudgets } from '../../budgets/data.ts';
import { isOfAll, tagOf } from '../../budgets/owner.ts';
import { PERIOD_SAYS } from '../../budgets/periods.ts';
import { CapBar } from '../../parts/cap-bar.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Money } from '../../parts/money.tsx';
import { Section } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

/** The budgets of single keys and tags, the fullest first. Nothing if there is none. */
export function PartBudgets() {
  const { data = [] } = useBudgets();
  const ofParts = data.filter((budget) => !isOfAll(budget));
  if (ofParts.length === 0) return null;
  return <Listed budgets={ofParts.toSorted((a, b) => shareOf(b) - shareOf(a))} />;
}

/** The part of a budget that is used. */
const shareOf = ({ limit_amount, used_amount }: Budget): number =>
  limit_amount === 0 ? 1 : used_amount / limit_amount;

function Listed({ budgets }: { budgets: readonly Budget[] }) {
  const names = useKeyNames();
  const columns: Column<Budget>[] = [
    {
      title: 'Of',
      cell: (budget) => {
        const { api_key_id } = budget;
        return api_key_id === null ? (
          <bdi>{tagOf(budget)}</bdi>
        ) : (
          <GoLink to={`/keys/${encodeURIComponent(api_key_id)}`}>
            <bdi>{names?.get(api_key_id) ?? api_key_id}</bdi>
          </GoLink>
        );
      },
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
    <Section title="Budgets of keys and tags">
      <Table
        caption="Budgets of keys and tags"
        columns={columns}
        rows={budgets}
        keyOf={({ id }) => id}
      />
    </Section>
  );
}

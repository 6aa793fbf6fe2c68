import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Model } from '../../api/types.ts';
import { PriceLine } from '../../catalogue/price-line.tsx';
import { modelsQuery, type Spend, spendQuery } from '../../catalogue/queries.ts';
import { whyRanked } from '../../catalogue/rank.ts';
import { ModelStatus } from '../../catalogue/status.tsx';
import { ApiCall } from '../../parts/api-call.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useHere } from '../../shell/here.ts';
import { Filters } from './filters.tsx';
import { abilitiesOf, foundModels, type ModelSearch } from './search.ts';

/** How many abilities a row shows before it says how many more there are. */
const SHOWN_ABILITIES = 3;

/** Which model should I take? */
export function ModelsPage() {
  const search = useSearch({ from: '/inside/models' });
  const navigate = useNavigate();
  const { may } = useHere();
  const models = useQuery(modelsQuery());
  const spend = useQuery({ ...spendQuery(), enabled: may('usage.read') });
  const change = (changed: ModelSearch) =>
    navigate({ to: '/models', search: { ...search, ...changed }, replace: true });
  return (
    <Page
      title="Models"
      question="Which model should I take?"
      call={<ApiCall path="/v1/management/models" />}
    >
      <Loaded query={models} height="h-96">
        {(all) => {
          const spent = new Map([...(spend.data ?? [])].map(([id, { usd }]) => [id, usd]));
          const found = foundModels(all, search, spent);
          return (
            <>
              <Filters models={all} search={search} change={change} />
              <p role="status" className="text-sm text-soft">
                {found.length === all.length
                  ? `${all.length} models`
                  : `${found.length} of ${all.length} models`}
              </p>
              {all.length === 0 ? (
                <Empty title="No model yet">
                  Weir offers a model when a channel serves it. An operator adds channels.
                </Empty>
              ) : found.length === 0 ? (
                <Empty
                  title="No model fits"
                  act={
                    <Button
                      onClick={() =>
                        change({
                          q: undefined,
                          category: undefined,
                          vendor: undefined,
                          can: undefined,
                        })
                      }
                    >
                      Show all models
                    </Button>
                  }
                >
                  A model must fit the text and all of the filters.
                </Empty>
              ) : (
                <Table
                  caption="Models"
                  rows={found}
                  keyOf={({ id }) => id}
                  columns={columnsOf(spend.data, spend.isError)}
                  onOpen={({ id }) => navigate({ to: '/models/$model', params: { model: id } })}
                />
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function columnsOf(
  spend: ReadonlyMap<string, Spend> | undefined,
  isUnknown: boolean,
): Column<Model>[] {
  return [
    {
      title: 'Model',
      cell: ({ id, owned_by }) => (
        <>
          <Link to="/models/$model" params={{ model: id }} className="font-medium hover:underline">
            <bdi>{id}</bdi>
          </Link>
          <span className="block text-sm text-soft">
            <bdi>{owned_by}</bdi>
          </span>
        </>
      ),
    },
    { title: 'Makes', cell: ({ category }) => category, onPhone: false },
    { title: 'Can', cell: (model) => <Abilities model={model} />, onPhone: false },
    { title: 'Price', cell: ({ pricing }) => <PriceLine pricing={pricing} /> },
    { title: 'Now', cell: ({ status }) => <ModelStatus status={status} /> },
    {
      title: 'Rank',
      align: 'right',
      onPhone: false,
      cell: ({ rank }) =>
        rank ? <span title={whyRanked(rank)}>{`${rank.place} of ${rank.of}`}</span> : <None />,
    },
    {
      title: 'Spent, 30 days',
      align: 'right',
      onPhone: false,
      cell: ({ id }) => {
        const own = spend?.get(id);
        if (own) return <Money usd={own.usd} />;
        return isUnknown || !spend ? (
          <Money usd={null} unknown={isUnknown ? 'unknown' : '…'} />
        ) : (
          <None />
        );
      },
    },
  ];
}

const None = () => <span className="text-soft">–</span>;

function Abilities({ model }: { model: Model }) {
  const all = abilitiesOf(model);
  const rest = all.length - SHOWN_ABILITIES;
  return (
    <span className="text-sm text-soft" title={rest > 0 ? all.join(', ') : undefined}>
      {all.slice(0, SHOWN_ABILITIES).join(', ').replaceAll('_', ' ')}
      {rest > 0 ? ` +${rest}` : ''}
    </span>
  );
}

import type { Model } from '../../api/types.ts';
import { conditionalPrices, type Price, pricesOf } from '../../catalogue/price.ts';
import { Money } from '../../parts/money.tsx';
import { Table } from '../../parts/table.tsx';

interface Row extends Price {
  readonly when: string;
}

/** Every price of a model, with its source. */
export function Prices({ model: { pricing, pricing_provenance: source } }: { model: Model }) {
  const rows: Row[] = [
    ...pricesOf(pricing).map((price) => ({ ...price, when: 'Always' })),
    ...conditionalPrices(pricing).flatMap(({ when, prices }) =>
      prices.map((price) => ({ ...price, when })),
    ),
  ];
  const hasConditions = rows.some(({ when }) => when !== 'Always');
  return (
    <>
      <Table
        caption="Prices"
        rows={rows}
        keyOf={({ what, when }) => `${what} ${when}`}
        columns={[
          { title: 'What', cell: ({ what }) => what },
          ...(hasConditions ? [{ title: 'When', cell: ({ when }: Row) => when }] : []),
          {
            title: 'USD',
            align: 'right' as const,
            cell: ({ usd }) => <Money usd={usd} exact />,
          },
          { title: 'Unit', cell: ({ per }) => per },
        ]}
      />
      <p className="text-sm text-soft">
        {source
          ? `From the ${source.source}, ${source.date}.`
          : 'The operator of this installation set this price.'}
      </p>
    </>
  );
}

import { useState } from 'react';
import { PriceLine } from '../../catalogue/price-line.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import type { Checked, ChosenModel } from './providers.ts';

interface BroughtModelsProps {
  readonly checked: Checked;
  readonly isBusy: boolean;
  readonly onChosen: (models: readonly ChosenModel[]) => void;
}

/** Which models a key brings, and at which prices. All are chosen at first. */
export function BroughtModels({ checked, isBusy, onChosen }: BroughtModelsProps) {
  const { models, unknown_models, key_tested } = checked;
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const usable = models.flatMap(({ protocol, ...model }) =>
    protocol === null ? [] : [{ ...model, protocol }],
  );
  const chosen = usable.filter(({ id }) => !left.has(id));
  const toggle = (id: string) => {
    const next = new Set(left);
    if (!next.delete(id)) next.add(id);
    setLeft(next);
  };
  return (
    <Section
      title={`The key brings ${usable.length} ${usable.length === 1 ? 'model' : 'models'}`}
      acts={
        <Button
          kind="primary"
          busy={isBusy}
          disabled={chosen.length === 0}
          onClick={() => onChosen(chosen)}
        >
          {chosen.length === usable.length ? 'Use them all' : `Use ${chosen.length}`}
        </Button>
      }
    >
      <p className="text-soft">
        {key_tested ? (
          <Badge tone="good">key works</Badge>
        ) : (
          <Badge tone="warn">key not proved</Badge>
        )}{' '}
        {key_tested ? '' : 'This server answers without a key, so the first call tests it. '}
        Prices are those that your organizations pay, in USD.
      </p>
      <Table<ChosenModel>
        caption="Models of this key"
        rows={usable}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Use',
            cell: ({ id }) => (
              <input
                type="checkbox"
                className="size-4"
                aria-label={`Use ${id}`}
                checked={!left.has(id)}
                onChange={() => toggle(id)}
              />
            ),
          },
          { title: 'Model', cell: ({ id }) => <span className="font-medium">{id}</span> },
          { title: 'Makes', cell: ({ category }) => category, onPhone: false },
          { title: 'Price', cell: PriceLine, align: 'right' },
        ]}
      />
      {unknown_models.length === 0 ? null : (
        <details className="text-sm text-soft">
          <summary>
            {unknown_models.length} more that the catalogue does not know, so they have no price
          </summary>
          <p className="mt-2 font-mono text-xs">{unknown_models.join(', ')}</p>
          <p className="mt-2">weir.yaml gives such a model a price, and then it can be used.</p>
        </details>
      )}
    </Section>
  );
}

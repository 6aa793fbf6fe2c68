import { useQuery } from '@tanstack/react-query';
import type { Model } from '../../api/types.ts';
import { WhenReachedField } from '../../budgets/when-reached.tsx';
import { modelsQuery } from '../../catalogue/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type LimitRow, NEW_LIMIT, paramOf, UNIT_NAMES, UNITS } from './limits.ts';

interface LimitsFieldProps {
  readonly rows: readonly LimitRow[];
  readonly onChange: (rows: readonly LimitRow[]) => void;
  readonly error: unknown;
}

/** How much of a minute a key may take: for all models together, and for single ones. */
export function LimitsField(props: LimitsFieldProps) {
  const catalogue = useQuery(modelsQuery());
  return (
    <div className="grid gap-3">
      <p className="text-sm text-soft">
        All limits that fit a call apply. A call above gets 429 with the time after which it may
        fit. An empty number limits nothing.
      </p>
      <Loaded query={catalogue} height="h-24">
        {(models) => <Rows models={models} {...props} />}
      </Loaded>
    </div>
  );
}

function Rows({ models, rows, onChange, error }: LimitsFieldProps & { models: readonly Model[] }) {
  const taken = new Set(rows.map(({ model }) => model));
  const free = ['', ...models.map(({ id }) => id)].find((id) => !taken.has(id));
  return (
    <>
      {rows.map((_row, at) => (
        <Row
          // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name, and rows never move
          key={at}
          {...{ models, rows, at, error }}
          onChange={(next) => onChange(rows.with(at, next))}
          onRemove={() => onChange(rows.toSpliced(at, 1))}
        />
      ))}
      <div>
        <Button
          disabled={free === undefined}
          onClick={() => onChange([...rows, { ...NEW_LIMIT, model: free ?? '' }])}
        >
          Add a limit
        </Button>
      </div>
    </>
  );
}

interface RowProps {
  readonly models: readonly Model[];
  readonly rows: readonly LimitRow[];
  readonly at: number;
  readonly error: unknown;
  readonly onChange: (row: LimitRow) => void;
  readonly onRemove: () => void;
}

function Row({ models, rows, at, error, onChange, onRemove }: RowProps) {
  const row = rows[at] ?? NEW_LIMIT;
  // A model that left the catalogue may stay in the limits of a key that has it.
  const isKnown = row.model === '' || models.some(({ id }) => id === row.model);
  return (
    <fieldset className="grid gap-2 rounded-control border border-line p-3">
      <legend className="sr-only">Limit {at + 1}</legend>
      <Field
        label="Limit of"
        param={paramOf(rows, at, 'model')}
        error={error}
        why="One model, or all of them together. Each has at most one limit."
      >
        <select
          className="control"
          value={row.model}
          onChange={({ target }) => onChange({ ...row, model: target.value })}
        >
          <option value="">All models</option>
          {isKnown ? null : <option value={row.model}>{row.model}</option>}
          {models.map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </Field>
      <div className="grid gap-2 sm:grid-cols-3">
        {UNIT_NAMES.map((unit) => (
          <Field
            key={unit}
            label={UNITS[unit].label}
            param={paramOf(rows, at, UNITS[unit].param)}
            error={error}
            why={UNITS[unit].why}
          >
            <input
              className="control"
              inputMode="numeric"
              placeholder="no limit"
              value={row[unit]}
              onChange={({ target }) => onChange({ ...row, [unit]: target.value })}
            />
          </Field>
        ))}
      </div>
      <WhenReachedField
        value={row.when_reached}
        param={paramOf(rows, at, 'when_reached')}
        error={error}
        onChange={(when_reached) => onChange({ ...row, when_reached })}
      />
      <div>
        <Button kind="quiet" className="-ml-3" onClick={onRemove}>
          Remove this limit
        </Button>
      </div>
    </fieldset>
  );
}

/** A value of a filter, or a value with the name that a page shows for it. */
type FilterValue = string | { readonly value: string; readonly name: string };

interface ChoiceFilterProps {
  readonly label: string;
  /** The name of no filter. */
  readonly all: string;
  readonly values: readonly FilterValue[];
  readonly chosen: string | undefined;
  readonly choose: (value: string | undefined) => void;
}

/** A filter of a list that needs no label in sight, because its values say what it is. */
export function ChoiceFilter({ label, all, values, chosen, choose }: ChoiceFilterProps) {
  const options = values.map((each) =>
    typeof each === 'string' ? { value: each, name: each.replaceAll('_', ' ') } : each,
  );
  return (
    <select
      aria-label={label}
      className="control"
      value={chosen ?? ''}
      onChange={({ target }) => choose(target.value || undefined)}
    >
      <option value="">{all}</option>
      {chosen !== undefined && !options.some(({ value }) => value === chosen) ? (
        <option value={chosen}>{chosen}</option>
      ) : null}
      {options.map(({ value, name }) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  );
}

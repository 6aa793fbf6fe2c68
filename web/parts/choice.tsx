import { Field } from './field.tsx';

/** A value that can be chosen. */
export interface Option {
  readonly value: string;
  readonly label: string;
}

interface ChoiceProps {
  readonly label: string;
  readonly why?: string | undefined;
  readonly value: string | undefined;
  readonly options: readonly Option[];
  /** What no value means, e.g. `All keys`. Without it a value is always chosen. */
  readonly none?: string;
  readonly onChoose: (value: string | undefined) => void;
}

/** A choice of one value. A value that is no longer offered stays in sight. */
export function Choice({ label, why, value, options, none, onChoose }: ChoiceProps) {
  const isOffered = value === undefined || options.some((option) => option.value === value);
  return (
    <Field label={label} why={why}>
      <select
        className="control"
        value={value ?? ''}
        onChange={({ target }) => onChoose(target.value === '' ? undefined : target.value)}
      >
        {none === undefined ? null : <option value="">{none}</option>}
        {isOffered ? null : <option value={value}>{value}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Field>
  );
}

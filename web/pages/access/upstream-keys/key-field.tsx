import { Field } from '../../../parts/field.tsx';

interface KeyFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: unknown;
  /** What keys of the provider look like. */
  readonly example: string;
}

/** The key of a provider's account. It stands only here: no answer of the API has it. */
export function KeyField({ value, onChange, error, example }: KeyFieldProps) {
  return (
    <Field
      label="Key of the account"
      param="api_key"
      error={error}
      why="Weir tests it, keeps it encrypted and never shows it again."
    >
      <input
        className="control font-mono"
        type="password"
        autoComplete="off"
        required
        placeholder={example}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

import { Field } from '../parts/field.tsx';

interface LimitFieldProps {
  /** USD, as a person types it. */
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly error: unknown;
}

/** The most that a window of a budget may spend. */
export function LimitField({ text, onChange, error }: LimitFieldProps) {
  return (
    <Field
      label="Limit, USD"
      param="limit_amount"
      error={error}
      why="The most that each window may spend, with what running calls hold."
    >
      <input
        className="control"
        inputMode="decimal"
        required
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

const NUMBER = /^\d+(\.\d+)?$/;

/** The amount of a text. What is no number is sent as it is, so that the API says what is wrong with it. */
export function amountOf(text: string): number | string {
  const trimmed = text.trim();
  return NUMBER.test(trimmed) ? Number(trimmed) : trimmed;
}

import { Field } from '../../../parts/field.tsx';

/** What a person may change of an own key, as the texts of a form. */
export interface OwnKeyForm {
  readonly name: string;
  /** One model a line. */
  readonly models: string;
  readonly priority: string;
}

interface FieldProps {
  readonly form: OwnKeyForm;
  readonly onChange: (form: OwnKeyForm) => void;
  readonly error: unknown;
}

/** The name that people give an own key. */
export function NameField({ form, onChange, error }: FieldProps) {
  return (
    <Field label="Name" param="name" error={error} why="Colleagues and the audit log show it.">
      <input
        className="control"
        maxLength={60}
        placeholder="the provider"
        value={form.name}
        onChange={(event) => onChange({ ...form, name: event.target.value })}
      />
    </Field>
  );
}

/** The models that an own key serves. */
export function ModelsField({ form, onChange, error }: FieldProps) {
  return (
    <Field
      label="Models"
      param="models"
      error={error}
      why="One a line, e.g. gpt-4o, or gpt-4o = its id at the provider. Their calls run on this key."
    >
      <textarea
        className="control font-mono text-sm"
        rows={4}
        spellCheck={false}
        placeholder="all that the account lists"
        value={form.models}
        onChange={(event) => onChange({ ...form, models: event.target.value })}
      />
    </Field>
  );
}

/** Which own key is tried first. */
export function PriorityField({ form, onChange, error }: FieldProps) {
  return (
    <Field
      label="Order"
      param="priority"
      error={error}
      why="If several own keys serve a model, the one with the lowest number is tried first."
    >
      <input
        className="control"
        inputMode="numeric"
        placeholder="0"
        value={form.priority}
        onChange={(event) => onChange({ ...form, priority: event.target.value })}
      />
    </Field>
  );
}

/** The order of a text. What is no number is sent as it is, so that the API says what is wrong with it. */
export function priorityOf(text: string): number | string {
  const trimmed = text.trim();
  return /^-?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** The fields that show an error of the API. */
export const OWN_KEY_PARAMS = ['name', 'models', 'priority'];

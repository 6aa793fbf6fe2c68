import { Field } from '../parts/field.tsx';
import { type Parameter, takenBy } from './parameters.ts';

interface ParameterFieldsProps {
  readonly parameters: readonly Parameter[];
  readonly values: Readonly<Record<string, string>>;
  readonly change: (name: string, value: string) => void;
  /** The error of the last call. It is shown beside the field that it names. */
  readonly error?: unknown;
}

/** A form of the parameters of a model, with its bounds, defaults and words. */
export function ParameterFields({ parameters, values, change, error }: ParameterFieldsProps) {
  return parameters.map((parameter) => (
    <ParameterField
      key={parameter.name}
      parameter={parameter}
      value={values[parameter.name] ?? ''}
      change={(value) => change(parameter.name, value)}
      error={error}
    />
  ));
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly error: unknown;
}

function ParameterField({ parameter, value, change, error }: ParameterFieldProps) {
  const { name, says, kind, choices, standard, isRequired, minimum, maximum } = parameter;
  const none = standard === undefined ? 'The model decides' : `Default: ${standard}`;
  const why = says ?? (kind === 'choice' || kind === 'boolean' ? undefined : takenBy(parameter));
  const label = `${name}${isRequired ? ' (required)' : ''}`;
  const control =
    kind === 'choice' || kind === 'boolean' ? (
      <select className="control" value={value} onChange={({ target }) => change(target.value)}>
        <option value="">{none}</option>
        {(kind === 'boolean' ? ['true', 'false'] : choices).map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    ) : kind === 'list' ? (
      <textarea
        className="control"
        rows={2}
        placeholder="One a line"
        value={value}
        onChange={({ target }) => change(target.value)}
      />
    ) : (
      <input
        className="control"
        inputMode={kind === 'integer' || kind === 'number' ? 'decimal' : undefined}
        placeholder={
          minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : none
        }
        value={value}
        onChange={({ target }) => change(target.value)}
      />
    );
  return (
    <Field label={label} why={why} error={error} param={name}>
      {control}
    </Field>
  );
}

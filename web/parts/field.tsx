import { cloneElement, type ReactElement, useId } from 'react';
import { ApiError } from '../api/error.ts';

interface FieldProps {
  readonly label: string;
  /** Why the field is there, or what its value does: one line. */
  readonly why?: string | undefined;
  /** An error of the API. It is shown here if it names `param`. */
  readonly error?: unknown;
  /** The name of the field in the API. */
  readonly param?: string | undefined;
  /** One control: an input, a select or a textarea. */
  readonly children: ReactElement<ControlProps>;
}

interface ControlProps {
  id?: string;
  'aria-describedby'?: string | undefined;
  'aria-invalid'?: boolean | undefined;
}

/** A control with its label, its why, and the API's error that names it. */
export function Field({ label, why, error, param, children }: FieldProps) {
  const id = useId();
  const known = error instanceof ApiError && error.details.param === param ? error : undefined;
  const mistake = param === undefined ? undefined : known;
  const described = [why === undefined ? '' : `${id}-why`, mistake ? `${id}-error` : '']
    .filter(Boolean)
    .join(' ');
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {cloneElement(children, {
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': mistake ? true : undefined,
      })}
      {why === undefined ? null : (
        <p id={`${id}-why`} className="text-sm text-soft">
          {why}
        </p>
      )}
      {mistake ? (
        <p id={`${id}-error`} role="alert" className="text-sm text-bad">
          {mistake.message} {mistake.details.hint}
        </p>
      ) : null}
    </div>
  );
}

/** True if an error is shown beside one of these fields, so that the form need not show it again. */
export function isShownBeside(error: unknown, params: readonly string[]): boolean {
  return error instanceof ApiError && params.includes(error.details.param ?? '');
}

import type { ComponentProps, ReactNode } from 'react';
import { ApiError } from '../../api/error.ts';
import { Field } from '../../parts/field.tsx';
import { Fold } from '../../parts/fold.tsx';
import { Money } from '../../parts/money.tsx';
import { type KeyField, type KeyForm, PARAMS, wordsOf } from './key-form.ts';
import { LimitsField } from './limits-field.tsx';
import { ModelsField } from './models-field.tsx';

interface KeyFieldsProps {
  readonly form: KeyForm;
  readonly onChange: (form: KeyForm) => void;
  readonly error: unknown;
  /** USD that the organization can still spend; undefined while it is not known. */
  readonly available: number | undefined;
}

/** How each field is called. */
export const LABELS: Readonly<Record<KeyField, string>> = {
  name: 'Name',
  cap: 'Cap, USD',
  models: 'Models',
  expires: 'Expires',
  cap_counts: 'Cap counts',
  per_minute: 'Requests per minute',
  limits: 'Limits',
  tags: 'Tags',
  external_id: 'External id',
  timeout: 'Timeout',
  image_format: 'Images as',
};

/** The fields of a key: name and cap in view, the others folded with what is in force now. */
export function KeyFields({ form, onChange, error, available }: KeyFieldsProps) {
  const set = (field: KeyField) => (value: string) => onChange({ ...form, [field]: value });
  const text = (field: Exclude<KeyField, 'models' | 'limits'>, more: object = {}) => (
    <input
      className="control"
      value={form[field]}
      onChange={(event) => set(field)(event.target.value)}
      {...more}
    />
  );
  const fold = (
    field: KeyField,
    why: string,
    control: ComponentProps<typeof Field>['children'],
  ) => (
    <KeyFold form={form} field={field} error={error}>
      <Field label={LABELS[field]} param={PARAMS[field]} error={error} why={why}>
        {control}
      </Field>
    </KeyFold>
  );
  return (
    <>
      <Field
        label={LABELS.name}
        param="name"
        error={error}
        why="Colleagues and bills show it, e.g. the program that uses the key."
      >
        {text('name', {
          autoFocus: true,
          maxLength: 60,
          placeholder: wordsOf({ ...form, name: '' }, 'name'),
        })}
      </Field>
      <Field
        label={LABELS.cap}
        param={PARAMS.cap}
        error={error}
        why="The most that this key may spend in its life. You can raise it at any time."
      >
        {text('cap', { inputMode: 'decimal', placeholder: 'no cap' })}
      </Field>
      {form.cap.trim() === '' ? (
        <p className="-mt-2 rounded-control bg-warn-soft px-3 py-1.5 text-sm text-warn">
          No cap: this key may spend everything that the organization has
          {available === undefined ? null : (
            <>
              , now <Money usd={available} />
            </>
          )}
          .
        </p>
      ) : null}
      <div className="divide-y divide-line rounded-box border border-line">
        <KeyFold form={form} field="models" error={error}>
          <p className="mb-2 text-sm text-soft">
            The key may use only the models that you tick. Without a tick, all of them and those
            that come later.
          </p>
          <ModelsField chosen={form.models} onChange={(models) => onChange({ ...form, models })} />
        </KeyFold>
        {fold(
          'expires',
          'From then on its calls get 401. In your time zone; empty means never.',
          text('expires', { type: 'datetime-local', step: 1 }),
        )}
        {fold(
          'cap_counts',
          'What a call on an own key of a provider counts: the fee, or the price of the catalogue.',
          <select
            className="control"
            value={form.cap_counts}
            onChange={(event) => set('cap_counts')(event.target.value)}
          >
            <option value="">What is charged</option>
            <option value="list">List prices, also of calls on own keys</option>
          </select>,
        )}
        {fold(
          'per_minute',
          'Calls above get 429 and may be sent again. The limit of the organization applies too.',
          text('per_minute', { inputMode: 'numeric', placeholder: 'no limit of its own' }),
        )}
        <KeyFold form={form} field="limits" error={error}>
          <LimitsField
            rows={form.limits}
            onChange={(limits) => onChange({ ...form, limits })}
            error={error}
          />
        </KeyFold>
        {fold('tags', 'Words to find keys by, separated by commas.', text('tags'))}
        {fold(
          'external_id',
          'The id of your own system for this key, e.g. of a customer. No other key may have it.',
          text('external_id'),
        )}
        {fold(
          'timeout',
          'Seconds for a whole call, if the client sets no time itself.',
          text('timeout', { inputMode: 'decimal', placeholder: 'as the client asks' }),
        )}
        {fold(
          'image_format',
          'How pictures come, if the client does not say it.',
          <select
            className="control"
            value={form.image_format}
            onChange={(event) => set('image_format')(event.target.value)}
          >
            <option value="">Links, or as the client asks</option>
            <option value="url">Links</option>
            <option value="b64_json">Base64</option>
          </select>,
        )}
      </div>
    </>
  );
}

interface KeyFoldProps {
  readonly form: KeyForm;
  readonly field: KeyField;
  readonly error: unknown;
  readonly children: ReactNode;
}

/** A folded field of a key. It opens by itself if the API refused its value. */
function KeyFold({ form, field, error, children }: KeyFoldProps) {
  const param = error instanceof ApiError ? error.details.param : undefined;
  const isRefused = param === PARAMS[field] || param?.startsWith(`${PARAMS[field]}.`) === true;
  return (
    <Fold label={LABELS[field]} words={wordsOf(form, field)} isRefused={isRefused}>
      {children}
    </Fold>
  );
}

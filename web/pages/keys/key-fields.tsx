import type { ComponentProps, ReactNode } from 'react';
import { ApiError } from '../../api/error.ts';
import { Field } from '../../parts/field.tsx';
import { Money } from '../../parts/money.tsx';
import { type KeyField, type KeyForm, PARAMS, wordsOf } from './key-form.ts';
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
  per_minute: 'Requests per minute',
  tags: 'Tags',
  external_id: 'External id',
  timeout: 'Timeout',
  image_format: 'Images as',
};

/** The fields of a key: name and cap in view, the others folded with what is in force now. */
export function KeyFields({ form, onChange, error, available }: KeyFieldsProps) {
  const set = (field: KeyField) => (value: string) => onChange({ ...form, [field]: value });
  const text = (field: Exclude<KeyField, 'models'>, more: object = {}) => (
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
    <Fold form={form} field={field} error={error}>
      <Field label={LABELS[field]} param={PARAMS[field]} error={error} why={why}>
        {control}
      </Field>
    </Fold>
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
        <Fold form={form} field="models" error={error}>
          <p className="mb-2 text-sm text-soft">
            The key may use only the models that you tick. Without a tick, all of them and those
            that come later.
          </p>
          <ModelsField chosen={form.models} onChange={(models) => onChange({ ...form, models })} />
        </Fold>
        {fold(
          'expires',
          'From then on its calls get 401. In your time zone; empty means never.',
          text('expires', { type: 'datetime-local', step: 1 }),
        )}
        {fold(
          'per_minute',
          'Calls above get 429 and may be sent again. The limit of the organization applies too.',
          text('per_minute', { inputMode: 'numeric', placeholder: 'no limit of its own' }),
        )}
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

interface FoldProps {
  readonly form: KeyForm;
  readonly field: KeyField;
  readonly error: unknown;
  readonly children: ReactNode;
}

/** A field that is folded to its name and its value in words. It opens by itself if the API refused its value. */
function Fold({ form, field, error, children }: FoldProps) {
  const param = error instanceof ApiError ? error.details.param : undefined;
  const isRefused = param === PARAMS[field] || param?.startsWith(`${PARAMS[field]}.`) === true;
  return (
    <details open={isRefused || undefined} className="group">
      <summary className="flex items-baseline gap-3 rounded-control px-3 py-1.5 hover:bg-sunk">
        <span className="w-32 shrink-0 sm:w-40">{LABELS[field]}</span>
        <bdi className="min-w-0 flex-1 truncate text-soft group-open:invisible">
          {wordsOf(form, field)}
        </bdi>
        <svg
          aria-hidden="true"
          viewBox="0 0 16 16"
          className="size-3 shrink-0 self-center text-soft transition-transform group-open:rotate-90"
        >
          <path d="m5.500 3 5 5-5 5" fill="none" stroke="currentColor" strokeWidth="1.500" />
        </svg>
      </summary>
      <div className="px-3 pt-1 pb-3">{children}</div>
    </details>
  );
}

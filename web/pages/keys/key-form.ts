import type { ApiKey } from '../../api/types.ts';
import { type LimitRow, limitsOf, limitsWords, rowsOf } from './limits.ts';

/** What a person chooses for an API key, as the texts of a form. An empty text is the default. */
export interface KeyForm {
  readonly name: string;
  /** USD; '' is no cap. */
  readonly cap: string;
  /** What counts of calls on own keys: '' is what is charged, `list` the price of the catalogue. */
  readonly cap_counts: string;
  /** Ids of models; none means all. */
  readonly models: readonly string[];
  /** A time in the reader's zone, as `<input type="datetime-local">` has it; '' is never. */
  readonly expires: string;
  readonly per_minute: string;
  /** For all models together, and for single ones. */
  readonly limits: readonly LimitRow[];
  /** Separated by commas. */
  readonly tags: string;
  readonly external_id: string;
  /** Seconds. */
  readonly timeout: string;
  readonly image_format: string;
}

export type KeyField = keyof KeyForm;

/** The form of a new key. */
export const NEW_KEY: KeyForm = {
  ...{ name: '', cap: '', models: [], expires: '', per_minute: '', tags: '' },
  ...{ external_id: '', timeout: '', image_format: '', cap_counts: '', limits: [] },
};

/** The name of each field in the API. */
export const PARAMS = {
  name: 'name',
  cap: 'limitAmount',
  models: 'models',
  expires: 'expiresAt',
  cap_counts: 'cap_counts',
  per_minute: 'requests_per_minute',
  limits: 'limits',
  tags: 'tags',
  external_id: 'external_id',
  timeout: 'default_timeout_ms',
  image_format: 'default_image_response_format',
} as const satisfies Record<KeyField, string>;

const FIELDS = Object.keys(PARAMS) as KeyField[];

/** The form of a key. */
export function formOf(key: ApiKey): KeyForm {
  const { default_timeout_ms: timeout_ms } = key;
  return {
    name: key.name,
    cap: key.limit_amount === null ? '' : decimal(key.limit_amount),
    models: key.models,
    expires: key.expires_at === null ? '' : localText(new Date(key.expires_at)),
    cap_counts: key.cap_counts === 'list' ? 'list' : '',
    limits: rowsOf(key.limits),
    per_minute: key.requests_per_minute === null ? '' : String(key.requests_per_minute),
    tags: key.tags.join(', '),
    external_id: key.external_id ?? '',
    timeout: timeout_ms === null ? '' : decimal(timeout_ms / 1_000),
    image_format: key.default_image_response_format ?? '',
  };
}

/** The members that `PATCH` needs to make `after` of `before`; for a new key, those that are not the default. */
export function changesOf(before: KeyForm, after: KeyForm): Record<string, unknown> {
  const changed = FIELDS.filter((field) => !isSame(before[field], after[field]));
  return Object.fromEntries(changed.map((field) => [PARAMS[field], memberOf(after, field)]));
}

/** What somebody else changed while a form was open. */
export interface ForeignChange {
  readonly field: KeyField;
  readonly before: string;
  readonly now: string;
  /** True if this form changes the same field to something else. */
  readonly isContested: boolean;
}

/**
 * Brings a form up to date with a key that somebody else changed from `before` to `now`. A field that the
 * person did not touch takes the new value; a touched one keeps what was typed.
 */
export function rebase(
  before: KeyForm,
  mine: KeyForm,
  now: KeyForm,
): { readonly form: KeyForm; readonly changes: readonly ForeignChange[] } {
  const foreign = FIELDS.filter((field) => !isSame(before[field], now[field]));
  const isMine = (field: KeyField) => !isSame(before[field], mine[field]);
  const taken = foreign.filter((field) => !isMine(field));
  return {
    form: { ...mine, ...Object.fromEntries(taken.map((field) => [field, now[field]])) },
    changes: foreign.map((field) => ({
      field,
      before: wordsOf(before, field),
      now: wordsOf(now, field),
      isContested: isMine(field) && !isSame(mine[field], now[field]),
    })),
  };
}

/** The value of a field in words, also if it is the default: `No cap`, `All models`. */
export function wordsOf(form: KeyForm, field: KeyField): string {
  const text = textOf(form[field]);
  if (text === '') return DEFAULTS[field];
  switch (field) {
    case 'cap':
      return `$${text}`;
    case 'models':
      return form.models.length > 2 ? `${form.models.length} models` : form.models.join(', ');
    case 'cap_counts':
      return 'List prices';
    case 'limits':
      return text;
    case 'expires':
      return new Date(text).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
    case 'per_minute':
      return `${text} a minute`;
    case 'timeout':
      return `${text} s`;
    case 'image_format':
      return text === 'url' ? 'Links' : 'Base64';
    default:
      return text;
  }
}

/** What is in force if a field is empty. */
const DEFAULTS: Readonly<Record<KeyField, string>> = {
  name: 'Default Key',
  cap: 'No cap',
  models: 'All models',
  expires: 'Never',
  cap_counts: 'What is charged',
  per_minute: 'No limit of its own',
  limits: 'None',
  tags: 'None',
  external_id: 'None',
  timeout: 'As the client asks',
  image_format: 'Links, or as the client asks',
};

function memberOf(form: KeyForm, field: KeyField): unknown {
  const text = textOf(form[field]).trim();
  switch (field) {
    case 'models':
      return form.models;
    case 'limits':
      return limitsOf(form.limits);
    case 'cap_counts':
      return text === '' ? 'charged' : text;
    case 'tags':
      return text
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== '');
    case 'expires':
      return text === '' ? null : isoOf(text);
    case 'timeout':
      return text === '' ? null : numberOf(text, 1_000);
    case 'cap':
    case 'per_minute':
      return text === '' ? null : numberOf(text);
    case 'name':
      return text;
    default:
      return text === '' ? null : text;
  }
}

const NUMBER = /^\d+(\.\d+)?$/;

/** The number of a text. What is no number is sent as it is, so that the API says what is wrong with it. */
function numberOf(text: string, times = 1): number | string {
  return NUMBER.test(text) ? Math.round(Number(text) * times * 1e9) / 1e9 : text;
}

function isoOf(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? local : date.toISOString();
}

/** A number with all its digits, e.g. `0.000000005`. */
function decimal(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(9).replace(/\.?0+$/, '') : text;
}

/** A time as `<input type="datetime-local">` takes it, to the second. */
function localText(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

type Value = KeyForm[KeyField];

function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  return value.some((each) => typeof each !== 'string')
    ? limitsWords(value as readonly LimitRow[])
    : value.join(', ');
}

const isSame = (a: Value, b: Value): boolean => textOf(a) === textOf(b);

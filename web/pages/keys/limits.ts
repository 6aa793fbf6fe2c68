import type { ApiKey } from '../../api/types.ts';
import { saysWhenReached, WHEN_REACHED_PARAMS, type WhenReached } from '../../budgets/choice.ts';

type KeyLimit = ApiKey['limits'][number];

/** A limit of a key, as the texts of a form. An empty text limits nothing. */
export interface LimitRow {
  /** The id of a model; '' means all models together. */
  readonly model: string;
  readonly requests: string;
  readonly tokens: string;
  readonly calls: string;
  readonly when_reached: WhenReached;
  /** What the form does not show, and sends back as it came. */
  readonly rest: Readonly<Record<string, unknown>>;
}

export const NEW_LIMIT: LimitRow = {
  ...{ model: '', requests: '', tokens: '', calls: '' },
  ...{ when_reached: 'refuse', rest: {} },
};

/** What a limit counts, with its name in the API and the words after its number. */
export const UNITS = {
  requests: {
    ...{ param: 'requests_per_minute', label: 'Requests a minute', says: 'requests a minute' },
    why: 'Calls and new tasks.',
  },
  tokens: {
    ...{ param: 'tokens_per_minute', label: 'Tokens a minute', says: 'tokens a minute' },
    why: 'Of chat: input and output.',
  },
  calls: {
    ...{ param: 'concurrent_calls', label: 'Calls at the same time', says: 'calls at a time' },
    why: 'Tasks do not count.',
  },
} as const;
export type Unit = keyof typeof UNITS;
export const UNIT_NAMES = Object.keys(UNITS) as Unit[];

/** The limits of a key as rows of a form. */
export function rowsOf(limits: readonly KeyLimit[]): LimitRow[] {
  return limits.map(
    ({
      model,
      requests_per_minute,
      tokens_per_minute,
      concurrent_calls,
      when_reached,
      ...rest
    }) => ({
      model: model ?? '',
      requests: textOf(requests_per_minute),
      tokens: textOf(tokens_per_minute),
      calls: textOf(concurrent_calls),
      when_reached,
      rest,
    }),
  );
}

/** The member `limits` of the API. A row without a number limits nothing and is left out. */
export function limitsOf(rows: readonly LimitRow[]): object[] {
  return rows.filter(hasNumber).map((row) => ({
    ...row.rest,
    model: row.model === '' ? null : row.model,
    when_reached: row.when_reached,
    ...Object.fromEntries(UNIT_NAMES.map((unit) => [UNITS[unit].param, numberOf(row[unit])])),
  }));
}

/** A limit in words, e.g. `gpt-4o: 60 requests a minute`. */
export function limitWords(row: LimitRow): string {
  const parts = UNIT_NAMES.filter((unit) => row[unit].trim() !== '').map(
    (unit) => `${grouped(row[unit])} ${UNITS[unit].says}`,
  );
  const { when_reached } = row;
  const then = when_reached === 'refuse' ? '' : `, then ${saysWhenReached(when_reached)}`;
  return `${row.model === '' ? 'All models' : row.model}: ${parts.join(', ')}${then}`;
}

/** The limits in words; '' if there are none. */
export const limitsWords = (rows: readonly LimitRow[]): string =>
  rows.filter(hasNumber).map(limitWords).join('; ');

/** The name of a member of a limit in errors of the API. Rows that are left out do not count. */
export function paramOf(rows: readonly LimitRow[], at: number, member: string): string {
  const sent = rows.slice(0, at).filter(hasNumber).length;
  return `limits.${sent}.${member}`;
}

/** All names that an error of the API can have for these rows. */
export const paramsOf = (rows: readonly LimitRow[]): string[] =>
  rows.flatMap((_row, at) =>
    ['model', ...UNIT_NAMES.map((unit) => UNITS[unit].param), ...WHEN_REACHED_PARAMS].map(
      (member) => paramOf(rows, at, member),
    ),
  );

const hasNumber = (row: LimitRow): boolean => UNIT_NAMES.some((unit) => row[unit].trim() !== '');

const textOf = (value: number | null): string => (value === null ? '' : String(value));

/** The number of a text. What is no number is sent as it is, so that the API says what is wrong with it. */
function numberOf(text: string): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

const grouped = (text: string): string => {
  const number = numberOf(text);
  return typeof number === 'number' ? number.toLocaleString() : text;
};

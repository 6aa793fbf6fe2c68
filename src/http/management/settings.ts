/**
 * What an organization can choose: one table of settings. It drives `PATCH` and `GET` of
 * `/v1/management/organization`. A new setting is an entry here, and a column of `organization` with the
 * same name and default.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { OwnOrganization } from '../../../db/accounts/settings.ts';
import type { organization } from '../../../db/schema.ts';

interface Setting {
  /** What the setting is, for people. */
  readonly says: string;
  /** The values that it can have: its bounds. */
  readonly schema: TSchema;
  readonly default: unknown;
}

/** The settings of an organization. */
export const SETTINGS = {
  keep_answers: {
    says: 'Keep the answers of calls with an Idempotency-Key, so that a repeat gets the first answer.',
    schema: Type.Boolean({ errorMessage: 'must be true or false' }),
    default: true,
  },
  cache_scope: {
    says: 'Who gets an answer of the cache again: all keys of the organization, or only the key that asked first.',
    schema: Type.Union([Type.Literal('organization'), Type.Literal('key')], {
      errorMessage: 'must be organization or key',
    }),
    default: 'organization',
  },
  own_keys: {
    says: 'How calls run of a model that an own upstream key serves: on own keys only, or on own keys first and then on the platform’s channels at the list price.',
    schema: Type.Union([Type.Literal('only'), Type.Literal('first')], {
      errorMessage: 'must be only or first',
    }),
    default: 'only',
  },
  time_zone: {
    says: 'The time zone in which the days, weeks and months of budgets begin: a name of the IANA database, e.g. Europe/Berlin.',
    schema: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$',
      errorMessage: 'must be a time zone of the IANA database, e.g. Europe/Berlin',
    }),
    default: 'UTC',
  },
} as const satisfies Partial<Record<keyof typeof organization.$inferSelect, Setting>>;

type SettingName = keyof typeof SETTINGS;

/** The values of all settings. */
export type Settings = {
  -readonly [Name in SettingName]: Static<(typeof SETTINGS)[Name]['schema']>;
};

/** The names of all settings. They are the names of their columns too. */
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** `PATCH /v1/management/organization` */
export const UpdateSettingsSchema = Type.Partial(
  Type.Object(
    Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].schema])) as {
      [Name in SettingName]: (typeof SETTINGS)[Name]['schema'];
    },
    { additionalProperties: false },
  ),
);

/** Returns each setting with its value, its default and its bounds (a JSON Schema). */
function describeSettings(values: Settings): Record<SettingName, DescribedSetting> {
  const described: Record<string, DescribedSetting> = Object.fromEntries(
    SETTING_NAMES.map((name) => {
      const { says: description, schema, default: standard } = SETTINGS[name];
      const { errorMessage: _message, ...bounds } = schema;
      return [name, { value: values[name], default: standard, schema: { description, ...bounds } }];
    }),
  );
  return described as Record<SettingName, DescribedSetting>;
}

/** A setting with its value, its default and its bounds. */
interface DescribedSetting {
  readonly value: unknown;
  readonly default: unknown;
  readonly schema: { readonly description: string } & TSchema;
}

/** Returns an organization as its people see it: with each setting, its default and its bounds. */
export function organizationView({
  id,
  name,
  status,
  status_reason,
  settings,
}: OwnOrganization<Settings>) {
  const record = { object: 'organization' as const, id, name, status, status_reason, ...settings };
  return { ...record, settings: describeSettings(settings) };
}

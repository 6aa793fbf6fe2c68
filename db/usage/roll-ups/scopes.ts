import { DIMENSIONS, type Dimension } from './entries.ts';

/** The names that the series of all keys have, by their scope: the scopes with the fewest series first. */
const NAMES_OF = {
  total: [],
  by_outcome: ['outcome'],
  by_protocol: ['protocol'],
  by_model: ['scene', 'model', 'model_vendor', 'access_channel'],
  organization: DIMENSIONS,
} as const satisfies Record<string, readonly Dimension[]>;

type OrganizationScope = keyof typeof NAMES_OF;
/** What a series is of (`usage_series.scope`). */
export type Scope = OrganizationScope | 'key' | 'key_model' | 'key_total';

const SCOPES = Object.entries(NAMES_OF) as [OrganizationScope, readonly Dimension[]][];

/** The scopes of all keys that are summed from the sums by all names. */
export const NARROW_SCOPES = SCOPES.filter(([scope]) => scope !== 'organization');

/** The names of the series of each key by model. */
export const KEY_MODEL_NAMES: readonly Dimension[] = NAMES_OF.by_model;

/**
 * Returns the scope of single keys that has these names, and the fewest series. `has_models` is false
 * while the sums by model are not those of the fold.
 */
export function keyScope(names: ReadonlySet<Dimension>, has_models: boolean): Scope {
  if (names.size === 0) return 'key_total';
  const isOfModels = [...names].every((name) => KEY_MODEL_NAMES.includes(name));
  return isOfModels && has_models ? 'key_model' : 'key';
}

/** Returns the scope of all keys that has these names, and the fewest series. */
export function organizationScope(names: ReadonlySet<Dimension>): OrganizationScope {
  const found = SCOPES.find(([, has]) => [...names].every((name) => has.includes(name)));
  return found?.[0] ?? 'organization';
}

/** The tables of sums. Those of single keys by names have no quarters, and those by models have weeks too. */
export const SUM_TABLES = {
  few_names: { quarter: 'usage_quarter', day: 'usage_day', week: undefined },
  organization: { quarter: 'usage_name_quarter', day: 'usage_name_day', week: undefined },
  key_total: { quarter: 'usage_key_quarter', day: 'usage_key_day', week: undefined },
  key: { quarter: undefined, day: 'usage_key_name_day', week: undefined },
  key_model: { quarter: undefined, day: 'usage_key_model_day', week: 'usage_key_model_week' },
} as const;

/** Returns the tables that have the sums of a scope. */
export function tablesOf(scope: Scope): (typeof SUM_TABLES)[keyof typeof SUM_TABLES] {
  return scope in SUM_TABLES ? SUM_TABLES[scope as keyof typeof SUM_TABLES] : SUM_TABLES.few_names;
}

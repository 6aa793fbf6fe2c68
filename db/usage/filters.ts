import type { Sql } from 'postgres';

/**
 * Which rows of an organization's usage are meant. A missing member does not filter. An empty name means the
 * rows without one.
 */
export interface UsageFilters {
  readonly organization_id: string;
  readonly key_id?: string | undefined;
  readonly model?: string | undefined;
  readonly model_vendor?: string | undefined;
  /** The models of `model_vendor`, for rows that have no vendor. */
  readonly vendor_models?: readonly string[] | undefined;
  readonly scene?: string | undefined;
  readonly access_channel?: 'platform' | 'byok' | undefined;
  readonly protocol?: string | undefined;
  readonly end_user?: string | undefined;
  /** The first instant. */
  readonly from?: Date | undefined;
  /** The first instant after the last one. */
  readonly until?: Date | undefined;
}

/**
 * Returns the conditions for rows of `alias`: a usage line or the record of a call. The organization
 * is always among them, so no caller can read another's rows (P6).
 */
export function conditions(sql: Sql, filters: UsageFilters, alias: string) {
  const { organization_id, key_id, model, model_vendor, scene, protocol } = filters;
  const { access_channel, end_user, from, until } = filters;
  const column = (name: string) => sql(`${alias}.${name}`);
  // Sums count a call by no model if its client named an unknown one, which has no vendor.
  const isUnnamed =
    alias === 'usage_line'
      ? sql`and ${column('model')} = ''`
      : sql`and (${column('model')} = '' or ${column('model_vendor')} = '')`;
  const is = (name: string, value: string | undefined) =>
    value === undefined ? sql`` : sql`and ${column(name)} = ${value}`;
  return sql`
    ${column('organization_id')} = ${organization_id}
    ${is('key_id', key_id)} ${model === '' ? isUnnamed : is('model', model)} ${is('model_vendor', model_vendor)}
    ${is('scene', scene)} ${is('protocol', protocol)} ${is('access_channel', access_channel)}
    ${end_user === undefined ? sql`` : sql`and ${column('detail')} ->> 'end_user' = ${end_user}`}
    ${from === undefined ? sql`` : sql`and ${column('at')} >= ${from}`}
    ${until === undefined ? sql`` : sql`and ${column('at')} < ${until}`}`;
}

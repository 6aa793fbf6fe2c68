import type { Sql, TransactionSql } from '../client.ts';
import type { OrganizationStatus } from './organizations.ts';

/** An organization as its own people see it, with the settings that they can change. */
export interface OwnOrganization<Settings> {
  readonly id: string;
  readonly name: string;
  readonly status: OrganizationStatus;
  /** Why an operator changed the status. */
  readonly status_reason: string;
  readonly settings: Settings;
}

/**
 * Returns an organization with the settings of these names, which are the names of their columns;
 * undefined if there is no such organization.
 */
export async function findSettings<Settings extends object>(
  sql: Sql | TransactionSql,
  organization_id: string,
  names: readonly (keyof Settings & string)[],
): Promise<OwnOrganization<Settings> | undefined> {
  const columns: string[] = [...names];
  const [row] = await sql<(Omit<OwnOrganization<object>, 'settings'> & Record<string, unknown>)[]>`
    select id, name, status, status_reason, ${sql(columns)} from organization
    where id = ${organization_id}`;
  if (!row) return undefined;
  const { id, name, status, status_reason } = row;
  const settings = Object.fromEntries(names.map((setting) => [setting, row[setting]])) as Settings;
  return { id, name, status, status_reason, settings };
}

/** Like `findSettings`. Nobody else can change the settings until the transaction ends. */
export async function lockSettings<Settings extends object>(
  tx: TransactionSql,
  organization_id: string,
  names: readonly (keyof Settings & string)[],
): Promise<OwnOrganization<Settings> | undefined> {
  await tx`select from organization where id = ${organization_id} for no key update`;
  return findSettings(tx, organization_id, names);
}

/** Changes settings of an organization. */
export async function updateSettings(
  tx: TransactionSql,
  organization_id: string,
  changes: object,
): Promise<void> {
  await tx`update organization set ${tx(changes as never)} where id = ${organization_id}`;
}

/** True for the name of a time zone that the database knows. */
export async function knowsTimeZone(tx: TransactionSql, name: string): Promise<boolean> {
  const rows = await tx`select from pg_timezone_names where name = ${name}`;
  return rows.length > 0;
}

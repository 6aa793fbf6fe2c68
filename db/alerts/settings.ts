import type { Sql, TransactionSql } from 'postgres';

/** What an organization can set for its alerts; see the table `alert_settings`. */
export interface AlertSettings {
  readonly low_balance_nano_usd: number | null;
  readonly unused_days: number;
  readonly unusual_factor: number;
}

/** The settings of an organization that set nothing. */
export const DEFAULT_ALERT_SETTINGS: AlertSettings = {
  low_balance_nano_usd: null,
  unused_days: 30,
  unusual_factor: 3,
};

/** Returns the settings of an organization. */
export async function readAlertSettings(
  sql: Sql | TransactionSql,
  owner_id: string,
): Promise<AlertSettings> {
  const [row] = await sql<AlertSettings[]>`
    select low_balance_nano_usd, unused_days, unusual_factor from alert_settings
    where owner_id = ${owner_id}`;
  return row ?? DEFAULT_ALERT_SETTINGS;
}

/** Stores the settings of an organization. */
export async function writeAlertSettings(
  tx: TransactionSql,
  owner_id: string,
  settings: AlertSettings,
): Promise<void> {
  const { low_balance_nano_usd, unused_days, unusual_factor } = settings;
  await tx`
    insert into alert_settings (owner_id, low_balance_nano_usd, unused_days, unusual_factor)
    values (${owner_id}, ${low_balance_nano_usd}, ${unused_days}, ${unusual_factor})
    on conflict (owner_id) do update set low_balance_nano_usd = excluded.low_balance_nano_usd,
      unused_days = excluded.unused_days, unusual_factor = excluded.unusual_factor`;
}

/**
 * The settings of the embedded PostgreSQL server. Weir passes them on the server's command line.
 * The server's configuration file is not used for them, because an earlier version of Weir may have
 * created that file.
 */

/** PostgreSQL settings by name, with PostgreSQL's own units. */
export type PostgresSettings = Record<string, string | number>;

/**
 * The database holds money, so with these settings a committed transaction survives a crash. The
 * server also needs little memory. It logs neither statements nor the contents of rows, because
 * both can contain data of clients.
 */
export const EMBEDDED_SETTINGS: PostgresSettings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: 100,
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '128MB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  wal_level: 'replica',
  max_wal_senders: 0,
  max_logical_replication_workers: 0,
  min_wal_size: '80MB',
  max_wal_size: '1GB',
  // PostgreSQL would compress with pglz, which takes longer than to write the whole page: after a checkpoint, the sums of
  // usage took four times as long.
  wal_compression: 'off',
  checkpoint_timeout: '10min',
  checkpoint_completion_target: 0.9,
  jit: 'off',
  autovacuum_naptime: '15s',
  autovacuum_vacuum_scale_factor: 0.05,
  autovacuum_analyze_scale_factor: 0.1,
  // With the default of 100, ANALYZE sorts 30,000 rows of each column of the usage lines, which took a thirtieth of
  // a busy machine.
  default_statistics_target: 30,
  timezone: 'GMT',
  log_timezone: 'GMT',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
};

/** Returns `['-c', 'a=1']` for `{ a: 1 }`; later sets override earlier ones. */
export function settingArguments(...sets: PostgresSettings[]): string[] {
  const merged: PostgresSettings = Object.assign({}, ...sets);
  return Object.entries(merged).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

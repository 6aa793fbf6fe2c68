/**
 * The driver (`postgres`) and the query builder on it (Drizzle), with limits for every wait and
 * every pool. The embedded server and `DATABASE_URL` use the same code.
 */
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import * as schema from './schema.ts';

/** Address of a server. If `host` starts with `/`, it is the folder of a unix socket. */
export interface PostgresConnection {
  host: string;
  port: number;
  username: string;
  database: string;
  password?: string;
}

/** Address of the database: host, port and user, or a `DATABASE_URL`. */
export type DatabaseSource = PostgresConnection | string;

/** The tagged-template client: `` sql`SELECT …` ``. */
export type Sql = postgres.Sql;

/** A client inside `sql.begin`. */
export type TransactionSql = postgres.TransactionSql;

/** The query builder over the tables of `schema.ts`. */
export type Orm = PostgresJsDatabase<typeof schema>;

/**
 * The sizes of a replica's pools. Each purpose has its own pool, so slow statements of one purpose
 * do not delay another. Two replicas together need fewer than PostgreSQL's default of 100
 * connections.
 */
export const POOLS = {
  /** Reads and small writes on behalf of a request. */
  requests: 16,
  /**
   * Transactions of the lane, the queue that commits ledger commands. The pool for durable actors
   * has the same size.
   */
  lane: 2,
  /** Timers, outbox, the reaper (which closes the grants of dead replicas) and other workers. */
  background: 6,
  /** The lease of this replica. It shares its connection with nothing, so it waits for nothing. */
  heartbeat: 1,
  /** A single connection: migrations, probes, tests. */
  single: 1,
} as const;

export type PoolName = keyof typeof POOLS;

const CONNECT_TIMEOUT_S = 10;
/** By default, the driver waits up to 20 s before it reconnects. Meanwhile statements queue. */
const RECONNECT_DELAY_MAX_S = 0.25;
const RECONNECT_DELAY_MIN_S = 0.01;
const IDLE_TIMEOUT_S = 300;
const CLOSE_TIMEOUT_S = 5;

interface Patience {
  /** How long one statement may run. */
  statement_timeout_ms: number;
  /** How long a statement may wait for a lock. */
  lock_timeout_ms: number;
  /**
   * How long a transaction may wait for its next statement. The server then ends the session, and
   * its locks. So it bounds how long others wait for the locks of a process that was paused.
   */
  idle_in_transaction_ms: number;
}

/**
 * A session that holds locks of money and falls silent ends after a second. A process that runs
 * sends its next statement within milliseconds. If its event loop is blocked for longer, the server
 * ends the session too. That loses nothing: these transactions are sent again, and every command in
 * them can be repeated.
 */
const SILENT_MS = 1_000;
/**
 * Longer than `SILENT_MS`. So a statement that waits for the lock of a silent session gets the lock.
 */
const MONEY_LOCK_MS = 2_000;

const PATIENCE: Record<PoolName, Patience> = {
  requests: {
    statement_timeout_ms: 30_000,
    lock_timeout_ms: MONEY_LOCK_MS,
    idle_in_transaction_ms: SILENT_MS,
  },
  lane: {
    statement_timeout_ms: 10_000,
    lock_timeout_ms: MONEY_LOCK_MS,
    idle_in_transaction_ms: SILENT_MS,
  },
  background: {
    statement_timeout_ms: 30_000,
    lock_timeout_ms: MONEY_LOCK_MS,
    idle_in_transaction_ms: 5_000,
  },
  heartbeat: {
    statement_timeout_ms: 1_000,
    lock_timeout_ms: 500,
    idle_in_transaction_ms: SILENT_MS,
  },
  // Migrations wait for each other and may lock whole tables.
  single: {
    statement_timeout_ms: 30_000,
    lock_timeout_ms: 10_000,
    idle_in_transaction_ms: 30_000,
  },
};

/**
 * When the server gives up a connection whose client's machine is gone, so that nobody keeps its
 * locks. Over a unix socket the server ignores these settings.
 */
const TCP_SETTINGS = {
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
};

export interface DatabaseOptions {
  pool: PoolName;
  statement_timeout_ms?: number;
  /** True if a commit need not wait for the disk, because nothing that is written must last. */
  is_volatile?: boolean;
}

/** One pool of connections. */
export interface Database {
  /** The driver, for hand-written statements. */
  sql: Sql;
  /** The same connections through Drizzle. */
  orm: Orm;
  /** Waits up to 5 s for running statements, then closes the connections. */
  close(): Promise<void>;
}

/**
 * Opens a pool. A connection is made when a statement needs one. A statement on a lost connection
 * fails; the next statement reconnects.
 *
 * Values:
 * - `int8` is an exact JS number. If a JS number would be inexact, the driver throws, so no amount
 *   of money is rounded.
 * - `timestamptz` is a `Date` in both directions; microseconds are cut to milliseconds.
 * - `numeric` is a string, so cast sums to `int8`.
 * - `json` and `jsonb` parameters are values or JSON text. Inside an array, they must be JSON text.
 * - An array of `Date`, `boolean`, `bigint` or bytes needs its type: `sql.array(values, 1185)`.
 *   Without it, the driver uses the type of the element.
 * - Arrays of numbers and strings need only the cast in the statement.
 *
 * `?pgbouncer=true` in a URL means a transaction pooler. Then the pool uses no named prepared
 * statements and no session settings, because such a pooler leaks or refuses them.
 */
export function connectDatabase(source: DatabaseSource, options: DatabaseOptions): Database {
  const { parts, url, transaction_pooler } = readSource(source);
  const settings = {
    max: POOLS[options.pool],
    connect_timeout: CONNECT_TIMEOUT_S,
    backoff: reconnectDelaySeconds,
    idle_timeout: IDLE_TIMEOUT_S,
    prepare: !transaction_pooler,
    connection: {
      application_name: `weir:${options.pool}`,
      ...(transaction_pooler ? {} : sessionSettings(options)),
      ...(options.is_volatile && !transaction_pooler ? { synchronous_commit: 'off' } : {}),
    },
    types: { int8: INT8 },
    // Notices carry no useful information ("relation already exists, skipping").
    onnotice: () => {},
    ...parts,
  };
  const client = url === undefined ? postgres(settings) : postgres(url, settings);
  const sql = client as unknown as Sql;
  const orm = drizzle(sql, { schema });
  shareCodecs(sql);
  return {
    sql,
    orm,
    close: () => sql.end({ timeout: CLOSE_TIMEOUT_S }),
  };
}

function reconnectDelaySeconds(retries: number): number {
  return Math.min(RECONNECT_DELAY_MIN_S * 2 ** retries, RECONNECT_DELAY_MAX_S);
}

/**
 * The lane runs few statements, each many times, with arrays of any length. For short arrays, the server
 * finds a new plan cheaper than the general one, and plans each time: that took three quarters of the
 * CPU time of the settlement of one call (measured). All plans are the same.
 */
const PLANNED_ONCE = { plan_cache_mode: 'force_generic_plan' };

interface ReadSource {
  parts: Partial<PostgresConnection>;
  url: string | undefined;
  transaction_pooler: boolean;
}

/** Removes URL parameters that the driver would send to the server as unknown settings. */
function readSource(source: DatabaseSource): ReadSource {
  if (typeof source !== 'string') {
    return { parts: { ...source }, url: undefined, transaction_pooler: false };
  }
  const [address = '', query = ''] = source.split('?', 2);
  const parameters = new URLSearchParams(query);
  const transaction_pooler = parameters.get('pgbouncer') === 'true';
  const socket_dir = parameters.get('host');
  parameters.delete('pgbouncer');
  parameters.delete('host');
  return {
    parts: socket_dir === null ? {} : { host: socket_dir },
    url: parameters.size > 0 ? `${address}?${parameters}` : address,
    transaction_pooler,
  };
}

function sessionSettings(options: DatabaseOptions): Record<string, string | number> {
  const patience = PATIENCE[options.pool];
  return {
    statement_timeout: options.statement_timeout_ms ?? patience.statement_timeout_ms,
    lock_timeout: patience.lock_timeout_ms,
    idle_in_transaction_session_timeout: patience.idle_in_transaction_ms,
    ...(options.pool === 'lane' ? PLANNED_ONCE : {}),
    ...TCP_SETTINGS,
    TimeZone: 'UTC',
  };
}

const INT8: postgres.PostgresType<number> = {
  to: 20,
  from: [20],
  parse: (text: string) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value))
      throw new RangeError(`int8 ${text} is not an exact JS number`);
    return value;
  },
  serialize: (value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (Number.isSafeInteger(Number(value)) && value !== '') return String(value);
    throw new RangeError(`${String(value)} is not an exact int8`);
  },
};

const TYPE_JSON = 114;
const TYPE_JSONB = 3802;
const TYPE_TIMESTAMPTZ = 1184;
const TYPE_TIMESTAMPTZ_ARRAY = 1185;

/**
 * Installs conversions that suit both the driver and Drizzle. Drizzle turns the driver's
 * conversions of times and JSON off for the whole client. Drizzle's columns accept a `Date` and
 * pass JSON as text.
 */
function shareCodecs(sql: Sql): void {
  const { parsers, serializers } = sql.options;
  parsers[TYPE_TIMESTAMPTZ] = instantOf;
  serializers[TYPE_TIMESTAMPTZ] = (value: Date | string) =>
    typeof value === 'string' ? value : value.toISOString();
  // If the array type has no entry, the driver converts each element with the conversions of the
  // element's type.
  delete parsers[TYPE_TIMESTAMPTZ_ARRAY];
  delete serializers[TYPE_TIMESTAMPTZ_ARRAY];
  const json = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  serializers[TYPE_JSON] = json;
  serializers[TYPE_JSONB] = json;
}

/**
 * Returns the instant of a `timestamptz`. PostgreSQL writes `0028-09-10 18:22:15+00`. For this form
 * JavaScript guesses: a year below 100 is in the last century or invalid. For RFC 3339 it does not.
 */
function instantOf(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/[+-]\d\d$/, '$&:00'));
}

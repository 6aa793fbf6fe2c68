import { type ConnectionPool, type HttpRequest, MAX_IDLE_CONNECTIONS } from '../http.ts';
import { Conduct, QUIET_MS } from './conduct.ts';
import { type Address, Connection, type ConnectionOwner } from './connection.ts';
import { GuardedConnection } from './guarded-connection.ts';

/**
 * The longest time that a connection stays idle, ms. Providers close idle connections after a
 * minute or more.
 */
const IDLE_MS = 50_000;
const SWEEP_MS = 10_000;
/** The most cached URLs of calls. Each path of a channel has one URL. */
const MAX_DESTINATIONS = 10_000;
/**
 * The most hosts of each pool. Providers may name a new host in each job. Above this number, the
 * oldest host is forgotten, and its idle connections are closed after `IDLE_MS`.
 */
const MAX_ORIGINS = 2_000;

/** A request's head before the value of `content-length`, and the parts it was built from. */
export interface HeadPrefix {
  readonly method: HttpRequest['method'];
  readonly content_type: string | undefined;
  readonly headers: HttpRequest['headers'];
  readonly text: string;
  /** True if the text has the same bytes in Latin-1 and UTF-8. */
  readonly is_ascii: boolean;
}

/** A parsed URL, with the head prefix of its last request. */
export interface Destination {
  readonly origin: Origin;
  readonly path: string;
  lastPrefix?: HeadPrefix;
}

/** The hosts and URLs that one of the two clients knows. */
interface Known {
  readonly origins: Record<ConnectionPool, Map<string, Origin>>;
  readonly destinations: Map<string, Destination>;
  readonly Connection: typeof Connection;
}

const knownBy = (of: typeof Connection): Known => ({
  origins: { calls: new Map(), jobs: new Map() },
  destinations: new Map(),
  Connection: of,
});
const OPEN = knownBy(Connection);
/** A tenant's hosts neither reuse the connections of the operator's channels nor push them out. */
const GUARDED = knownBy(GuardedConnection);

/**
 * Returns the destination of a URL. Destinations of calls are cached. Destinations of jobs are not:
 * nearly every poll of a job has its own URL, so these URLs would push out the URLs of calls.
 */
export function destinationOf(pool: ConnectionPool, url: string): Destination {
  return destinationIn(OPEN, pool, url);
}

/** Works like `destinationOf`. The connections check the addresses that they connect to. */
export function guardedDestinationOf(pool: ConnectionPool, url: string): Destination {
  return destinationIn(GUARDED, pool, url);
}

function destinationIn(known: Known, pool: ConnectionPool, url: string): Destination {
  if (pool === 'jobs') return parseDestination(known, pool, url);
  const { destinations } = known;
  const cached = destinations.get(url);
  if (cached) return cached;
  if (destinations.size >= MAX_DESTINATIONS) destinations.clear();
  const destination = parseDestination(known, pool, url);
  destinations.set(url, destination);
  return destination;
}

function parseDestination(known: Known, pool: ConnectionPool, url: string): Destination {
  const { protocol, host, hostname, port, pathname, search } = new URL(url);
  const isTls = protocol === 'https:';
  const { origins } = known;
  const hosts = origins[pool];
  const key = `${protocol}//${host}`;
  let origin = hosts.get(key);
  if (!origin) {
    // The hostname of an IPv6 URL has brackets, which a socket does not accept.
    const bare = hostname.replace(/^\[|\]$/g, '');
    const address = { hostname: bare, port: Number(port) || (isTls ? 443 : 80), isTls };
    // Both pools share the conduct of a host, so surplus bytes in one pool stop reuse in both.
    const other = origins[pool === 'calls' ? 'jobs' : 'calls'].get(key);
    const conduct = other?.conduct ?? new Conduct(host);
    origin = new Origin(host, address, MAX_IDLE_CONNECTIONS[pool], conduct, known.Connection);
    if (hosts.size >= MAX_ORIGINS) hosts.delete(hosts.keys().next().value ?? '');
    hosts.set(key, origin);
  }
  return { origin, path: pathname + search };
}

/**
 * The pool of connections to one host. A request never waits for a connection: if no connection may
 * be reused, a new connection is opened.
 */
export class Origin implements ConnectionOwner {
  /**
   * Idle connections, newest last. The stack can also contain closed connections, which are not
   * idle. The newest idle connection is used first, so that unneeded connections become old and are
   * closed.
   */
  private stack: Connection[] = [];
  /** The number of idle connections. */
  private idle_count = 0;
  /** Connections that have ended a response, but were not yet quiet for QUIET_MS. */
  private readonly settling = new Set<Connection>();
  private sweeper: Timer | undefined;

  constructor(
    readonly host: string,
    private readonly address: Address,
    private readonly max_idle: number,
    readonly conduct: Conduct,
    private readonly ConnectionOf: typeof Connection = Connection,
  ) {}

  createConnection(): Connection {
    return new this.ConnectionOf(this.address, this);
  }

  /** Removes and returns the newest connection that may be reused; undefined if there is none. */
  takeIdle(): Connection | undefined {
    if (this.conduct.isSuspended) return undefined;
    for (let next = this.stack.pop(); next; next = this.stack.pop()) {
      if (this.endIdle(next)) return next;
    }
    return undefined;
  }

  onIdle(connection: Connection): void {
    const { conduct } = this;
    if (connection.isReused) conduct.onCleanReuse();
    if (this.idle_count + this.settling.size >= this.max_idle || conduct.isSuspended) {
      connection.abort();
    } else if (conduct.isProven) this.keep(connection);
    else this.settle(connection);
  }

  onClose(connection: Connection): void {
    this.endIdle(connection);
    this.settling.delete(connection);
  }

  onSurplus(): void {
    this.conduct.onSurplus();
    for (const connection of [...this.stack.filter(isIdle), ...this.settling]) connection.abort();
  }

  private keep(connection: Connection): void {
    connection.idle_since_ms = performance.now();
    this.idle_count += 1;
    this.stack.push(connection);
    this.sweeper ??= setInterval(this.sweep, SWEEP_MS).unref();
  }

  /** Marks a connection as not idle. Returns false if it was not idle. */
  private endIdle(connection: Connection): boolean {
    if (!isIdle(connection)) return false;
    connection.idle_since_ms = undefined;
    this.idle_count -= 1;
    return true;
  }

  /**
   * Keeps the connection for reuse if no byte arrives for QUIET_MS after its response. Such a byte
   * closes the connection. If this thread was busy, such bytes may still be unread when the timer
   * fires. So the connection is kept only after the event loop has read all sockets once more. One
   * `setImmediate` is not enough, because it may run before that read.
   */
  private settle(connection: Connection): void {
    this.settling.add(connection);
    const keepIfOpen = () => {
      if (this.settling.delete(connection)) this.keep(connection);
    };
    setTimeout(() => setImmediate(() => setImmediate(keepIfOpen)), QUIET_MS).unref();
  }

  private readonly sweep = () => {
    const oldest = performance.now() - IDLE_MS;
    for (const connection of this.stack) {
      if ((connection.idle_since_ms ?? oldest) < oldest) connection.abort();
    }
    this.stack = this.stack.filter(isIdle);
    if (this.idle_count > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
  };
}

function isIdle({ idle_since_ms }: Connection): boolean {
  return idle_since_ms !== undefined;
}

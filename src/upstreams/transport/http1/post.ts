import { type Address, Connection } from './connection.ts';
import { decompress } from './decoded.ts';
import type { Http1Response, HttpResponse } from './response.ts';

/** The most idle connections for each upstream. Further connections are closed. */
const MAX_IDLE_CONNECTIONS = 512;
/**
 * The longest time that a connection stays idle, ms. Providers close idle connections after a
 * minute or more.
 */
const IDLE_MS = 50_000;
const SWEEP_MS = 10_000;
/** The most cached URLs. Each path of a channel has one URL. */
const MAX_DESTINATIONS = 10_000;

/** A request that was sent. */
export interface Posted {
  /**
   * Resolves after the head of the response. Rejects if the connection could not be opened, or
   * broke.
   */
  readonly response: Promise<HttpResponse>;
  /** Aborts the request and its response: terminates the connection. */
  abort(): void;
}

/**
 * POSTs JSON over HTTP/1.1 (why not with `fetch`: decisions, upstream-connections). Redirects are
 * returned, not followed. This function has no timeout. It throws if a header's value cannot be
 * sent.
 *
 * If a reused connection closes before the first byte of the response, the upstream closed the
 * connection while it was idle. Then the request is sent once more over a new connection, as
 * `fetch` does.
 */
export function post(url: string, headers: Readonly<Record<string, string>>, body: string): Posted {
  const destination = destinationOf(url);
  const { text, is_ascii } = headPrefixOf(destination, headers);
  const body_bytes = Buffer.byteLength(body);
  const head = `${text}${body_bytes}\r\n\r\n`;
  const request = new PostedRequest(destination.origin, head, is_ascii, body, body_bytes);
  request.start();
  return request;
}

/** The head of a request up to the value of its content length. */
interface HeadPrefix {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly is_ascii: boolean;
}

/**
 * Returns the head prefix for these headers. It is built only if the headers differ from the headers
 * of the destination's last request.
 */
function headPrefixOf(
  destination: Destination,
  headers: Readonly<Record<string, string>>,
): HeadPrefix {
  const { lastPrefix } = destination;
  if (lastPrefix && areEqual(lastPrefix.headers, headers)) return lastPrefix;
  let text = `POST ${destination.path} HTTP/1.1\r\nHost: ${destination.origin.host}\r\nContent-Type: application/json\r\nAccept-Encoding: identity\r\n`;
  for (const name in headers) text += `${name}: ${requireSafe(name, headers[name])}\r\n`;
  text += 'Content-Length: ';
  destination.lastPrefix = { headers: { ...headers }, text, is_ascii: ASCII.test(text) };
  return destination.lastPrefix;
}

function areEqual(first: Readonly<Record<string, string>>, second: typeof first): boolean {
  for (const name in first) if (first[name] !== second[name]) return false;
  for (const name in second) if (first[name] === undefined) return false;
  return true;
}

const ASCII = /^[\t\r\n\x20-\x7e]*$/;

/**
 * Returns a header's value. Throws if a character cannot be sent, e.g. a line break, which would
 * start another header or request.
 */
function requireSafe(name: string, value: string | undefined): string {
  if (value === undefined || UNSAFE.test(value)) {
    throw new Error(`the header ${name} has a value that cannot be sent`);
  }
  return value;
}

const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

/** One request. The request may be sent again over a new connection. */
class PostedRequest implements Posted {
  readonly response: Promise<HttpResponse>;
  private resolve!: (response: HttpResponse) => void;
  private reject!: (error: unknown) => void;
  private connection: Connection | undefined;
  private isReused = false;
  private isAborted = false;

  constructor(
    private readonly origin: Origin,
    readonly head: string,
    readonly is_ascii: boolean,
    readonly body: string,
    readonly body_bytes: number,
  ) {
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  start(): void {
    const idle = this.origin.takeIdle();
    this.isReused = idle !== undefined;
    if (idle) {
      this.connection = idle;
      idle.send(this);
    } else this.sendOnNewConnection();
  }

  onResponse(response: Http1Response): void {
    this.resolve(decompress(response));
  }

  onFailure(error: unknown): void {
    // A reused connection without a response was closed while it was idle. In all other cases the
    // upstream may have processed the request, so it is not sent again.
    const isStale = this.isReused && this.connection?.isUnanswered === true;
    if (this.isAborted || !isStale) {
      this.reject(error);
      return;
    }
    this.isReused = false;
    this.sendOnNewConnection();
  }

  onComplete(): void {
    this.connection = undefined;
  }

  abort(): void {
    this.isAborted = true;
    this.connection?.abort();
  }

  private sendOnNewConnection(): void {
    this.connection = this.origin.createConnection();
    this.connection.open(this);
  }
}

/** The pool of connections to one upstream. */
class Origin {
  /** Idle connections, each with the `performance.now()` when it became idle. */
  private readonly idle = new Map<Connection, number>();
  /**
   * Idle connections, newest last. It can also contain connections that are closed. The newest idle
   * connection is used first, so that the others become old and are closed.
   */
  private readonly stack: Connection[] = [];
  private sweeper: Timer | undefined;

  constructor(
    readonly host: string,
    private readonly address: Address,
  ) {}

  createConnection(): Connection {
    return new Connection(this.address, this.keepIdle, this.remove);
  }

  /** Removes and returns the newest idle connection; undefined if there is none. */
  takeIdle(): Connection | undefined {
    for (let next = this.stack.pop(); next; next = this.stack.pop()) {
      if (this.idle.delete(next)) return next;
    }
    return undefined;
  }

  private readonly keepIdle = (connection: Connection) => {
    if (this.idle.size >= MAX_IDLE_CONNECTIONS) {
      connection.abort();
      return;
    }
    this.idle.set(connection, performance.now());
    this.stack.push(connection);
    this.sweeper ??= setInterval(this.sweep, SWEEP_MS).unref();
  };

  private readonly remove = (connection: Connection) => {
    this.idle.delete(connection);
  };

  private readonly sweep = () => {
    const oldest = performance.now() - IDLE_MS;
    for (const [connection, since] of this.idle) if (since < oldest) connection.abort();
    if (this.idle.size > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
    this.stack.length = 0;
  };
}

/** A parsed URL, with the head prefix of its last request. */
interface Destination {
  readonly origin: Origin;
  readonly path: string;
  lastPrefix?: HeadPrefix;
}

const origins = new Map<string, Origin>();
const destinations = new Map<string, Destination>();

function destinationOf(url: string): Destination {
  const cached = destinations.get(url);
  if (cached) return cached;
  const { protocol, host, hostname, port, pathname, search } = new URL(url);
  const isTls = protocol === 'https:';
  const key = `${protocol}//${host}`;
  let origin = origins.get(key);
  if (!origin) {
    // The hostname of an IPv6 URL has brackets, which a socket does not accept.
    const bare = hostname.replace(/^\[|\]$/g, '');
    origin = new Origin(host, { hostname: bare, port: Number(port) || (isTls ? 443 : 80), isTls });
    origins.set(key, origin);
  }
  if (destinations.size >= MAX_DESTINATIONS) destinations.clear();
  const destination: Destination = { origin, path: pathname + search };
  destinations.set(url, destination);
  return destination;
}

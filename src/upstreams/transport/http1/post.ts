import { type Address, Connection } from './connection.ts';
import { decompressed } from './decoded.ts';
import type { Http1Response, HttpResponse } from './response.ts';

/** Idle connections that are kept to one upstream; more are closed as they come back. */
const MAX_IDLE_CONNECTIONS = 512;
/** Longest rest of an idle connection, ms: providers close theirs after a minute or more. */
const IDLE_MS = 50_000;
const SWEEP_MS = 10_000;
/** Parsed addresses that are remembered; there are as many as channels have paths. */
const MAX_ADDRESSES = 10_000;

/** A request that was posted. */
export interface Posted {
  /** The answer, once its head is there. Rejects if the connection could not be made, or broke. */
  readonly answer: Promise<HttpResponse>;
  /** Gives the request up, and its answer: cuts the connection. */
  abort(): void;
}

/**
 * POSTs JSON over HTTP/1.1 (why not with `fetch`: decisions, upstream-connections).
 *
 * A redirect is an answer like any other, and nothing here times out. A connection that was used
 * before and is closed without a byte of an answer is taken for one that was closed while it was idle:
 * the request is sent once more, over a new one, as `fetch` does.
 */
export function post(url: string, headers: Readonly<Record<string, string>>, body: string): Posted {
  const destination = addressed(url);
  const { text, is_ascii } = openingOf(destination, headers);
  const body_bytes = Buffer.byteLength(body);
  const head = `${text}${body_bytes}\r\n\r\n`;
  const sent = new Sending(destination.origin, head, is_ascii, body, body_bytes);
  sent.start();
  return sent;
}

/** The head of a request up to its length. */
interface Opening {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly is_ascii: boolean;
}

/** Mostly that of the request before: the same key, the same path. */
function openingOf(to: Destination, headers: Readonly<Record<string, string>>): Opening {
  const { opening } = to;
  if (opening && areSame(opening.headers, headers)) return opening;
  let text = `POST ${to.path} HTTP/1.1\r\nHost: ${to.origin.host}\r\nContent-Type: application/json\r\nAccept-Encoding: identity\r\n`;
  for (const name in headers) text += `${name}: ${safe(headers[name])}\r\n`;
  text += 'Content-Length: ';
  to.opening = { headers: { ...headers }, text, is_ascii: ASCII.test(text) };
  return to.opening;
}

function areSame(some: Readonly<Record<string, string>>, others: typeof some): boolean {
  for (const name in some) if (some[name] !== others[name]) return false;
  for (const name in others) if (some[name] === undefined) return false;
  return true;
}

const ASCII = /^[\t\r\n\x20-\x7e]*$/;

/** A line break in a header would be another header, or another request. */
function safe(value: string | undefined): string {
  if (value === undefined || UNSAFE.test(value)) throw new Error('a header that cannot be sent');
  return value;
}

const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

/** One request, on whatever connection carries it. */
class Sending implements Posted {
  readonly answer: Promise<HttpResponse>;
  private resolve!: (answer: HttpResponse) => void;
  private reject!: (error: unknown) => void;
  private connection: Connection | undefined;
  private isReused = false;
  private over = false;

  constructor(
    private readonly origin: Origin,
    readonly head: string,
    readonly is_ascii: boolean,
    readonly body: string,
    readonly body_bytes: number,
  ) {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  start(): void {
    const idle = this.origin.take();
    this.isReused = idle !== undefined;
    if (idle) {
      this.connection = idle;
      idle.send(this);
    } else this.startAnew();
  }

  answered(answer: Http1Response): void {
    this.resolve(decompressed(answer));
  }

  failed(error: unknown): void {
    // Most likely it was closed just when it was chosen. Where something came, or the connection was
    // made for this request, the upstream has begun with it: it is not asked again.
    const isStale = this.isReused && this.connection?.isUnheard === true;
    if (this.over || !isStale) {
      this.reject(error);
      return;
    }
    this.isReused = false;
    this.startAnew();
  }

  ended(): void {
    this.connection = undefined;
  }

  abort(): void {
    this.over = true;
    this.connection?.abort();
  }

  private startAnew(): void {
    this.connection = this.origin.connection();
    this.connection.open(this);
  }
}

/** The connections to one upstream. */
class Origin {
  /** The last one to come back is the first to go: the others may rest, and be closed. */
  private readonly idle = new Map<Connection, number>();
  private readonly stack: Connection[] = [];
  private sweeper: Timer | undefined;

  constructor(
    readonly host: string,
    private readonly address: Address,
  ) {}

  connection(): Connection {
    return new Connection(this.address, this.park, this.forget);
  }

  take(): Connection | undefined {
    for (let next = this.stack.pop(); next; next = this.stack.pop()) {
      if (this.idle.delete(next)) return next;
    }
    return undefined;
  }

  private readonly park = (connection: Connection) => {
    if (this.idle.size >= MAX_IDLE_CONNECTIONS) {
      connection.abort();
      return;
    }
    this.idle.set(connection, performance.now());
    this.stack.push(connection);
    this.sweeper ??= setInterval(this.sweep, SWEEP_MS).unref();
  };

  private readonly forget = (connection: Connection) => {
    this.idle.delete(connection);
  };

  private readonly sweep = () => {
    const before = performance.now() - IDLE_MS;
    for (const [connection, since] of this.idle) if (since < before) connection.abort();
    if (this.idle.size > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
    this.stack.length = 0;
  };
}

/** What a URL says of where a request goes, and how the last one began. */
interface Destination {
  readonly origin: Origin;
  readonly path: string;
  opening?: Opening;
}

const origins = new Map<string, Origin>();
const addresses = new Map<string, Destination>();

function addressed(url: string): Destination {
  const known = addresses.get(url);
  if (known) return known;
  const { protocol, host, hostname, port, pathname, search } = new URL(url);
  const isTls = protocol === 'https:';
  const key = `${protocol}//${host}`;
  let origin = origins.get(key);
  if (!origin) {
    const plain = hostname.replace(/^\[|\]$/g, '');
    origin = new Origin(host, { hostname: plain, port: Number(port) || (isTls ? 443 : 80), isTls });
    origins.set(key, origin);
  }
  if (addresses.size >= MAX_ADDRESSES) addresses.clear();
  const address: Destination = { origin, path: pathname + search };
  addresses.set(url, address);
  return address;
}

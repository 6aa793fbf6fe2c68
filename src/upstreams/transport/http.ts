/**
 * The interface between exchanges and the two HTTP clients that carry them: `http1/` is Weir's own
 * client, `platform-fetch.ts` uses the `fetch` of the platform. Both behave alike
 * (test/upstreams/transport/clients.test.ts).
 */

/**
 * Headers that both clients add to every request. Weir requests no compression: a model's events
 * are small and must not wait in a compressor.
 */
export const COMMON_HEADERS = {
  accept: '*/*',
  'accept-encoding': 'identity',
  'user-agent': 'weir',
} as const;

/**
 * TLS settings of all requests to upstreams. The certificate must be trusted and must name the
 * host, even if an environment variable disables such checks. The platform sends the host's name
 * (SNI) and offers only TLS 1.2 and 1.3.
 */
export const TLS_SETTINGS = { rejectUnauthorized: true } as const;

/** The most bytes of a response's head. */
export const MAX_HEAD_BYTES = 64 * 1024;

/**
 * The most idle connections of each pool for one host. Further connections are closed. Up to 256
 * polls of jobs (`MAX_RUNNING_EFFECTS`) run at the same time, so a smaller pool would often open
 * new connections.
 */
export const MAX_IDLE_CONNECTIONS = { calls: 512, jobs: 256 } as const;

/**
 * The pool whose connections a request uses. `calls` is for chat and direct calls, `jobs` for the
 * requests of generations. The two pools share no connections. So thousands of polls cannot push
 * out the idle connections of calls.
 */
export type ConnectionPool = keyof typeof MAX_IDLE_CONNECTIONS;

/** One HTTP request to an upstream. */
export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** A complete `http:` or `https:` URL. */
  readonly url: string;
  /** Headers besides `COMMON_HEADERS` and the content type. The client adds host and length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: EncodedBody | undefined;
  readonly pool: ConnectionPool;
  /**
   * True if the request may be sent again when a reused connection closes before the first byte of
   * the response. A request that must not be sent twice gets a new connection.
   */
  readonly may_repeat: boolean;
}

/** A request's body and its content type. A text is sent as UTF-8. */
export interface EncodedBody {
  readonly content: string | Uint8Array<ArrayBuffer>;
  readonly content_type: string;
}

/** A request that was sent. */
export interface SentRequest {
  /**
   * Resolves after the head of the response. Rejects with UnsentRequestError if no connection could
   * be opened, and with another error if the connection broke or the response is malformed.
   */
  readonly response: Promise<HttpResponse>;
  /** Aborts the request and its response: terminates the connection. */
  abort(): void;
}

/**
 * Sends a request. Redirects are returned, not followed, because following them could send the
 * channel's key to another host. The HTTP client itself limits neither the time nor the size of
 * bodies; `Exchange` does. Throws UnsentRequestError if a header's value cannot be sent.
 */
export type HttpClient = (request: HttpRequest) => SentRequest;

/** No byte of the request was sent, so it is certain that the upstream did not process it. */
export class UnsentRequestError extends Error {
  override readonly name = 'UnsentRequestError';
  /** The code of the failed connection, e.g. `ECONNREFUSED`. */
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = codeOf(cause);
  }
}

/** Returns the code of a system or TLS error; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Returns a header's value. Throws UnsentRequestError if a character cannot be sent, e.g. a line
 * break, which would start another header or request.
 */
export function requireSafe(name: string, value: string | undefined): string {
  if (value !== undefined && !UNSAFE.test(value)) return value;
  throw new UnsentRequestError(
    `the header ${name} cannot be sent: its value contains a forbidden character`,
  );
}

/** The received bytes are not a valid HTTP/1.1 response. */
export class MalformedResponse extends Error {
  override readonly name = 'MalformedResponse';
}

/** The members of a response that an exchange uses. A `Response` of the platform has them too. */
export interface HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  /** Names are in lower case. */
  readonly headers: Pick<Headers, 'get' | 'has'>;
  readonly body: HttpBody | null;
  /** The length of the body, bytes. Undefined if it is not known before the body's end. */
  readonly body_bytes?: number | undefined;
  /** Returns the whole body. Call it at most once, and not after `body` was read. */
  text(): Promise<string>;
}

/** A body that can be read once. */
export interface HttpBody {
  getReader(): BodyReader;
}

/** Reads a body in pieces. A body has one reader, and only one read may be pending. */
export interface BodyReader {
  read(): Promise<Piece>;
  cancel(): Promise<void>;
}

/** The next bytes of a body, or its end. */
export type Piece =
  | { done: false; value: Uint8Array<ArrayBuffer> }
  | { done: true; value?: Uint8Array<ArrayBuffer> | undefined };

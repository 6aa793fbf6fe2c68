import {
  COMMON_HEADERS,
  type EncodedBody,
  type HttpRequest,
  type HttpResponse,
  requireSafe,
  type SentRequest,
  UnsentRequestError,
} from '../http.ts';
import type { Connection, RequestBytes } from './connection.ts';
import { decompress } from './decoded.ts';
import {
  type Destination,
  destinationOf,
  guardedDestinationOf,
  type HeadPrefix,
  type Origin,
} from './pool.ts';
import type { Http1Response } from './response.ts';

/**
 * Weir's own HTTP/1.1 client. `docs/decisions/upstream-connections.md` says why Weir does not
 * always use `fetch`.
 *
 * If a reused connection closes before the first byte of the response, the upstream closed the
 * connection while it was idle. Then the request is sent once more over a new connection, if it may
 * be repeated. The same happens if its first bytes cannot be the response (see `Conduct`).
 */
export function sendWithHttp1(request: HttpRequest): SentRequest {
  return send(request, destinationOf(request.pool, request.url));
}

/**
 * Works like `sendWithHttp1`, for an address that a tenant gave. Each new connection goes to an IP
 * address that was checked (`GuardedConnection`). These connections are in pools of their own.
 */
export function sendGuarded(request: HttpRequest): SentRequest {
  return send(request, guardedDestinationOf(request.pool, request.url));
}

function send(request: HttpRequest, destination: Destination): SentRequest {
  const { text, is_ascii } = headPrefixOf(destination, request);
  const { body, method } = request;
  const content = body?.content ?? '';
  const body_bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  const head = body || MUST_HAVE_LENGTH[method] ? `${text}${body_bytes}\r\n\r\n` : `${text}\r\n`;
  const sent = new Http1Exchange(
    destination.origin,
    { head, is_ascii, content, body_bytes, is_head_only: method === 'HEAD' },
    request.may_repeat,
  );
  sent.start();
  return sent;
}

/** Methods whose requests have a length even without a body (RFC 9110, 8.6). */
const MUST_HAVE_LENGTH: Partial<Record<HttpRequest['method'], true>> = { POST: true, PUT: true };

const ASCII = /^[\t\r\n\x20-\x7e]*$/;

/**
 * Returns the head of a request up to the value of its content length. If method, content type and
 * headers are the same as in the destination's last request, the cached text is returned.
 */
function headPrefixOf(destination: Destination, request: HttpRequest): HeadPrefix {
  const { method, headers, body } = request;
  const { lastPrefix } = destination;
  if (
    lastPrefix &&
    lastPrefix.method === method &&
    lastPrefix.content_type === body?.content_type &&
    areEqual(lastPrefix.headers, headers)
  ) {
    return lastPrefix;
  }
  const text =
    `${method} ${destination.path} HTTP/1.1\r\nHost: ${destination.origin.host}\r\n` +
    contentTypeLine(body) +
    headerLines({ ...COMMON_HEADERS, ...headers }) +
    (body || MUST_HAVE_LENGTH[method] ? 'Content-Length: ' : '');
  destination.lastPrefix = {
    method,
    content_type: body?.content_type,
    headers: { ...headers },
    text,
    is_ascii: ASCII.test(text),
  };
  return destination.lastPrefix;
}

function contentTypeLine(body: EncodedBody | undefined): string {
  return body ? `Content-Type: ${requireSafe('content-type', body.content_type)}\r\n` : '';
}

function headerLines(headers: HttpRequest['headers']): string {
  let text = '';
  for (const name in headers) text += `${name}: ${requireSafe(name, headers[name])}\r\n`;
  return text;
}

function areEqual(first: HttpRequest['headers'], second: typeof first): boolean {
  for (const name in first) if (first[name] !== second[name]) return false;
  for (const name in second) if (first[name] === undefined) return false;
  return true;
}

/** One request. The request may be sent again over a new connection. */
class Http1Exchange implements SentRequest {
  readonly response: Promise<HttpResponse>;
  private resolve!: (response: HttpResponse) => void;
  private reject!: (error: unknown) => void;
  private connection: Connection | undefined;
  private isReused = false;
  /** True if the request was already sent once, over a reused connection. */
  private isRepeated = false;
  private isAborted = false;

  constructor(
    private readonly origin: Origin,
    readonly bytes: RequestBytes,
    private readonly may_repeat: boolean,
  ) {
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  start(): void {
    const idle = this.may_repeat ? this.origin.takeIdle() : undefined;
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
    // If a reused connection ends without a response, the upstream had closed it while it was idle,
    // or sent bytes that belong to no request. In all other cases the upstream may have processed the request, so it is not sent again.
    const isStale = this.isReused && this.connection?.isUnanswered === true;
    if (this.isAborted || !isStale) {
      this.reject(this.isUnsent() ? new UnsentRequestError(error) : error);
      return;
    }
    this.isReused = false;
    this.isRepeated = true;
    this.sendOnNewConnection();
  }

  onComplete(): void {
    this.connection = undefined;
  }

  abort(): void {
    this.isAborted = true;
    this.connection?.abort();
  }

  private isUnsent(): boolean {
    return !this.isAborted && !this.isRepeated && this.connection?.isUnsent === true;
  }

  private sendOnNewConnection(): void {
    this.connection = this.origin.createConnection();
    this.connection.open(this);
  }
}

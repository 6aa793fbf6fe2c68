import type { Socket } from 'bun';
import { TLS_SETTINGS } from '../http.ts';
import { Http1Response } from './response.ts';
import { type Bytes, type ParsedHead, type ParserSink, ResponseParser } from './response-parser.ts';
import { UnsentBytes } from './unsent-bytes.ts';

/** The host that a connection is opened to. */
export interface Address {
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** The bytes of a request. */
export interface RequestBytes {
  /**
   * The request line and headers, with the empty line after the headers. Each character is one
   * Latin-1 byte.
   */
  readonly head: string;
  /** True if the head has the same bytes in Latin-1 and UTF-8. */
  readonly is_ascii: boolean;
  readonly content: string | Uint8Array;
  readonly body_bytes: number;
  /** True for a HEAD request, whose response has no body. */
  readonly is_head_only: boolean;
}

/** A request as bytes, and the functions that handle its response. */
export interface Http1Request {
  readonly bytes: RequestBytes;
  /** Called after the head of the response. May throw, which fails the request. */
  onResponse(response: Http1Response): void;
  /** Called if the connection fails before the head of the response. */
  onFailure(error: unknown): void;
  /** Called after the complete response. The connection may then carry another request. */
  onComplete(): void;
}

/** The pool that a connection belongs to. */
export interface ConnectionOwner {
  /** Called when another request may use the connection. */
  onIdle(connection: Connection): void;
  /** Called when the connection is closed. */
  onClose(connection: Connection): void;
  /** Called for bytes that belong to no request. */
  onSurplus(): void;
}

/**
 * The start of a response that a server may send over an idle connection before it closes the
 * connection (RFC 9110, 15.5.9).
 */
const TIMEOUT_NOTICE = /^HTTP\/1\.[01] 408 /;
const TIMEOUT_NOTICE_BYTES = 'HTTP/1.1 408 '.length;

/** An ASCII request with at most this many bytes is written as a string, which avoids a copy. */
const MAX_STRING_BYTES = 16 * 1024;

/** One HTTP/1.1 connection to an upstream. It carries one request at a time (RFC 9112). */
export class Connection implements ParserSink {
  /** Since when the connection is idle, a `performance.now()`. Set by the pool. */
  idle_since_ms: number | undefined;
  private socket: Socket<Connection> | undefined;
  private request: Http1Request | undefined;
  private parser: ResponseParser | undefined;
  private response: Http1Response | undefined;
  /** The part of the request that the socket did not accept yet. */
  private unsent: UnsentBytes | undefined;
  /** True after the first byte of the current response. */
  private hasReceived = false;
  private hasSent = false;
  private isClosed = false;
  private wasReused = false;
  /** True if the first bytes after a request were no response to it. */
  private isForeign = false;

  constructor(
    protected readonly address: Address,
    private readonly owner: ConnectionOwner,
  ) {}

  /** True if the connection carried more than one request. */
  get isReused(): boolean {
    return this.wasReused;
  }

  /** Opens the connection and sends its first request. */
  open(request: Http1Request): void {
    this.expect(request);
    this.connect(this.address.hostname);
  }

  /** Sets the request that is sent when the connection is open. */
  protected expect(request: Http1Request): void {
    this.request = request;
  }

  /** Connects to `host`, a name or an IP address of the host. The certificate must name the host. */
  protected connect(host: string): void {
    const { hostname, port, isTls } = this.address;
    if (this.isClosed) return;
    Bun.connect<Connection>({
      hostname: host,
      port,
      data: this,
      socket: isTls ? TLS_EVENTS : TCP_EVENTS,
      ...(isTls ? { tls: { serverName: hostname, ...TLS_SETTINGS } } : {}),
    }).catch((error: unknown) => this.onLost(error));
  }

  /** Sends a request on an idle connection. */
  send(request: Http1Request): void {
    this.request = request;
    this.wasReused = true;
    this.write(request.bytes);
  }

  /**
   * True before the first byte of the response, and if the first bytes belong to no request. If a
   * reused connection ends in such a state, the upstream had closed it while it was idle, or it sent
   * surplus bytes. Then the caller sends the request again.
   */
  get isUnanswered(): boolean {
    return !this.hasReceived || this.isForeign;
  }

  /** True before the first byte of a request was sent. */
  get isUnsent(): boolean {
    return !this.hasSent;
  }

  /** Terminates the connection, so that the upstream stops its work. */
  abort(): void {
    this.breakOff(new Error('the request was aborted'));
  }

  pause(): void {
    this.socket?.pause();
  }

  resume(): void {
    this.socket?.resume();
  }

  onHead(head: ParsedHead): void {
    const response = new Http1Response(head, this);
    // If the handler throws, the response is not set, and the request fails.
    this.request?.onResponse(response);
    this.response = response;
  }

  onData(bytes: Bytes, from: number, to: number): void {
    this.response?.push(bytes, from, to);
  }

  onEnd(): void {
    this.response?.end();
  }

  /** Called when the socket is open. If the request was aborted before, the socket is closed. */
  onOpen(socket: Socket<Connection>): void {
    this.socket = socket;
    if (this.isClosed) socket.terminate();
  }

  /** Called when the request may be sent; for TLS, after the certificate was checked. */
  onReady(): void {
    if (this.request) this.write(this.request.bytes);
  }

  /** Called when the socket can accept more bytes. Writes a slice of the unsent request. */
  onDrain(): void {
    const { socket, unsent } = this;
    if (!socket || !unsent || this.isClosed) return;
    const isAccepted = unsent.writeTo(socket);
    if (unsent.isEmpty) this.unsent = undefined;
    else if (isAccepted) setImmediate(() => this.onDrain());
  }

  /** Called with bytes from the socket. */
  onBytes(bytes: Bytes): void {
    const { parser } = this;
    if (!parser) {
      this.onIdleBytes(bytes);
      return;
    }
    if (this.unsent && this.wasReused && !this.hasReceived) {
      // A response to a half-sent request may also be a late surplus of the response before.
      this.breakOff(new Error('the upstream answered before it got the request'));
      return;
    }
    this.hasReceived = true;
    try {
      parser.feed(bytes);
    } catch (error) {
      if (this.wasReused && !parser.hasHead) {
        this.isForeign = true;
        this.owner.onSurplus();
      }
      this.breakOff(error);
      return;
    }
    const { response } = this;
    if (parser.isDone) this.finish(parser);
    response?.wake();
  }

  /** Handles bytes that came while no request was open, so that they belong to no response. */
  private onIdleBytes(bytes: Bytes): void {
    const isNotice = TIMEOUT_NOTICE.test(bytes.toString('latin1', 0, TIMEOUT_NOTICE_BYTES));
    if (!isNotice && !this.isClosed) this.owner.onSurplus();
    this.abort();
  }

  /** Fails the request and terminates the connection. */
  private breakOff(error: unknown): void {
    this.onLost(error);
    this.socket?.terminate();
  }

  /** Called when the socket was closed or could not be opened. */
  onLost(error: unknown): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { response, parser, request } = this;
    this.request = undefined;
    this.owner.onClose(this);
    if (response && parser?.close()) response.wake();
    else if (response) response.fail(error);
    else request?.onFailure(error);
  }

  private write({ head, is_ascii, content, body_bytes, is_head_only }: RequestBytes): void {
    const { socket } = this;
    if (!socket) return;
    this.parser = new ResponseParser(this, is_head_only);
    this.response = undefined;
    this.hasReceived = false;
    this.hasSent = true;
    const size = head.length + body_bytes;
    let written = 0;
    if (is_ascii && size <= MAX_STRING_BYTES && typeof content === 'string') {
      written = Math.max(0, socket.write(head + content));
      if (written === size) return;
    }
    this.unsent = new UnsentBytes(head, content).dropStart(written);
    this.onDrain();
  }

  /** Called after a complete response. Closes the connection if it cannot be used again. */
  private finish(parser: ResponseParser): void {
    const isFree = parser.canReuseConnection && !this.unsent;
    if (parser.hasSurplus) this.owner.onSurplus();
    this.request?.onComplete();
    this.request = undefined;
    this.parser = undefined;
    this.response = undefined;
    if (isFree) this.owner.onIdle(this);
    else this.close();
  }

  private close(): void {
    this.isClosed = true;
    this.owner.onClose(this);
    this.socket?.end();
  }
}

const TCP_EVENTS = {
  open: (socket: Socket<Connection>) => {
    socket.data.onOpen(socket);
    socket.data.onReady();
  },
  data: (socket: Socket<Connection>, bytes: Bytes) => socket.data.onBytes(bytes),
  drain: (socket: Socket<Connection>) => socket.data.onDrain(),
  close: (socket: Socket<Connection>) => socket.data.onLost(new Error('the connection was closed')),
  error: (socket: Socket<Connection>, error: Error) => socket.data.onLost(error),
};

const TLS_EVENTS = {
  ...TCP_EVENTS,
  open: (socket: Socket<Connection>) => socket.data.onOpen(socket),
  /** Called when the certificate was checked. No request may be sent before this call. */
  handshake: (socket: Socket<Connection>, success: boolean, error: Error | null) => {
    if (success && !error) {
      socket.data.onReady();
      return;
    }
    socket.data.onLost(error ?? new Error('the TLS handshake failed'));
    socket.terminate();
  },
};

import type { Socket } from 'bun';
import { Http1Response } from './response.ts';
import { type Bytes, type ParsedHead, type ParserSink, ResponseParser } from './response-parser.ts';

/** Where a connection leads. */
export interface Address {
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** A request as it goes over the wire, and who waits for its answer. */
export interface Http1Request {
  /** The head, Latin-1, with its empty line. */
  readonly head: string;
  /** True if the head's bytes are the same in UTF-8. */
  readonly is_ascii: boolean;
  readonly body: string;
  readonly body_bytes: number;
  answered(answer: Http1Response): void;
  failed(error: unknown): void;
  /** Its answer is whole: the connection is another's now. */
  ended(): void;
}

/** Up to this size a request is given to the socket as a string, without a copy. */
const MAX_STRING_BYTES = 16 * 1024;

/** One connection to an upstream: one request at a time, and its answer (RFC 9112). */
export class Connection implements ParserSink {
  private socket: Socket<Connection> | undefined;
  private request: Http1Request | undefined;
  private parser: ResponseParser | undefined;
  private answer: Http1Response | undefined;
  /** What of the request the socket did not take yet. */
  private unsent: Buffer | undefined;
  /** True once a byte of the present request's answer came. */
  private heard = false;
  private closed = false;

  /** `onIdle`: it may carry the next request. `onClose`: it will carry none. */
  constructor(
    private readonly address: Address,
    private readonly onIdle: (connection: Connection) => void,
    private readonly onClose: (connection: Connection) => void,
  ) {}

  /** Opens it for its first request. */
  open(request: Http1Request): void {
    this.request = request;
    const { hostname, port, isTls } = this.address;
    Bun.connect<Connection>({
      hostname,
      port,
      data: this,
      socket: isTls ? TLS_EVENTS : TCP_EVENTS,
      // Certificates are checked against the host, as for every upstream.
      ...(isTls ? { tls: { serverName: hostname, rejectUnauthorized: true } } : {}),
    }).catch((error: unknown) => this.lost(error));
  }

  /** Sends a request on a connection that was idle. */
  send(request: Http1Request): void {
    this.request = request;
    this.write(request);
  }

  /** True if the upstream closed it before it said anything: of an idle one, that it was too late. */
  get isUnheard(): boolean {
    return !this.heard;
  }

  /** Cuts the connection: the upstream sees that its answer is not wanted any more. */
  abort(): void {
    this.lost(new Error('the call was given up'));
    this.socket?.terminate();
  }

  pause(): void {
    this.socket?.pause();
  }

  resume(): void {
    this.socket?.resume();
  }

  onHead(head: ParsedHead): void {
    const answer = new Http1Response(head, this);
    // An answer that nobody can read is none: then the request has failed.
    this.request?.answered(answer);
    this.answer = answer;
  }

  onData(bytes: Bytes, from: number, to: number): void {
    this.answer?.push(bytes, from, to);
  }

  onEnd(): void {
    this.answer?.end();
  }

  /** There is a socket; one that nobody waits for any more is closed again. */
  opened(socket: Socket<Connection>): void {
    this.socket = socket;
    if (this.closed) socket.terminate();
  }

  /** The other side is who it should be: it may be told the request. */
  ready(): void {
    if (this.request) this.write(this.request);
  }

  drained(): void {
    const { socket, unsent } = this;
    if (!socket || !unsent) return;
    const written = Math.max(0, socket.write(unsent));
    this.unsent = written < unsent.byteLength ? unsent.subarray(written) : undefined;
  }

  took(bytes: Bytes): void {
    const { parser } = this;
    if (!parser) {
      // Nothing was asked: a server that says goodbye, or one that is out of step.
      this.abort();
      return;
    }
    this.heard = true;
    try {
      parser.feed(bytes);
    } catch (error) {
      this.lost(error);
      this.socket?.terminate();
      return;
    }
    const { answer } = this;
    if (parser.done) this.finish(parser);
    answer?.wake();
  }

  /** The socket is gone, or never came to be. */
  lost(error: unknown): void {
    if (this.closed) return;
    this.closed = true;
    const { answer, parser, request } = this;
    this.request = undefined;
    this.onClose(this);
    if (answer && parser?.close()) answer.wake();
    else if (answer) answer.fail(error);
    else request?.failed(error);
  }

  private write({ head, is_ascii, body, body_bytes }: Http1Request): void {
    const { socket } = this;
    if (!socket) return;
    this.parser = new ResponseParser(this);
    this.answer = undefined;
    this.heard = false;
    const size = head.length + body_bytes;
    let written = 0;
    if (is_ascii && size <= MAX_STRING_BYTES) {
      written = Math.max(0, socket.write(head + body));
      if (written === size) return;
    }
    const bytes = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
    this.unsent = bytes.subarray(written);
    this.drained();
  }

  /** The answer is whole: the connection is free, unless the two sides may be out of step. */
  private finish(parser: ResponseParser): void {
    const isFree = parser.keepsConnection && !this.unsent;
    this.request?.ended();
    this.request = undefined;
    this.parser = undefined;
    this.answer = undefined;
    if (isFree) this.onIdle(this);
    else this.close();
  }

  private close(): void {
    this.closed = true;
    this.onClose(this);
    this.socket?.end();
  }
}

const TCP_EVENTS = {
  open: (socket: Socket<Connection>) => {
    socket.data.opened(socket);
    socket.data.ready();
  },
  data: (socket: Socket<Connection>, bytes: Bytes) => socket.data.took(bytes),
  drain: (socket: Socket<Connection>) => socket.data.drained(),
  close: (socket: Socket<Connection>) => socket.data.lost(new Error('it was closed')),
  error: (socket: Socket<Connection>, error: Error) => socket.data.lost(error),
};

const TLS_EVENTS = {
  ...TCP_EVENTS,
  open: (socket: Socket<Connection>) => socket.data.opened(socket),
  /** Only now is it known who the other side is. */
  handshake: (socket: Socket<Connection>, success: boolean, error: Error | null) => {
    if (success && !error) {
      socket.data.ready();
      return;
    }
    socket.data.lost(error ?? new Error('the TLS handshake failed'));
    socket.terminate();
  },
};

import { MAX_HEAD_BYTES, MalformedResponse } from '../http.ts';
import { ResponseHeaders } from './response-headers.ts';

/**
 * The most bytes of a chunk's size line, with its extensions. A line of a trailer has the same
 * limit.
 */
export const MAX_LINE_BYTES = 8 * 1024;

/**
 * The most bytes of a response that are neither its head nor its body: informational responses,
 * extensions of chunks, and trailers. Weir uses none of them, so an upstream must not send many.
 */
export const MAX_OVERHEAD_BYTES = 256 * 1024;
/** The size line of a chunk without extensions has at most this many characters. */
const PLAIN_SIZE_CHARS = 16;

/** Bytes from a socket. */
export type Bytes = Buffer<ArrayBuffer>;

/** The status line and headers of a response. */
export interface ParsedHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The length of the body, bytes; undefined if it is not known before the body's end. */
  readonly body_bytes: number | undefined;
}

/** Receives a response while it is parsed. */
export interface ParserSink {
  onHead(head: ParsedHead): void;
  /** A piece of the body: the bytes from `from` up to, not including, `to`. */
  onData(bytes: Bytes, from: number, to: number): void;
  onEnd(): void;
}

type State =
  | 'head'
  | 'sized'
  | 'chunk-size'
  | 'chunk'
  | 'chunk-end'
  | 'trailer'
  | 'until-close'
  | 'done';

const END_OF_HEAD = '\r\n\r\n';
const END_OF_LINE = '\r\n';
/** A status line and header lines without folding (RFC 9112, 4 and 5). */
const HEAD = /^HTTP\/1\.[01] [1-9]\d\d(?: [^\r\n]*)?(?:\r\n[\w!#$%&'*+.^`|~-]+:[^\r\n\0]*)*$/;
const CHUNK_SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i;
const CONTENT_LENGTH = /^\d{1,15}$/;
/** The reading functions return this instead of a position if more bytes are needed. */
const INCOMPLETE = -1;

/** Parses one response. Its bytes may be cut anywhere (RFC 9112). */
export class ResponseParser {
  private state: State = 'head';
  /** The start of an incomplete head or line. */
  private incomplete: Bytes | undefined;
  /** The number of bytes of the body or chunk that were not received yet. */
  private remaining_bytes = 0;
  private overhead_bytes = 0;
  private isReusable = false;
  private hasExtraBytes = false;

  /** `isBodiless` is true for the response to a HEAD request, which has no body (RFC 9112, 6.3). */
  constructor(
    private readonly sink: ParserSink,
    private readonly isBodiless = false,
  ) {}

  /** True after the complete response. */
  get isDone(): boolean {
    return this.state === 'done';
  }

  /** True if the response is complete and the connection can carry another request. */
  get canReuseConnection(): boolean {
    return this.isDone && this.isReusable;
  }

  /** True if bytes came after the complete response. They belong to no request. */
  get hasSurplus(): boolean {
    return this.hasExtraBytes;
  }

  /** True after the head of the final response. */
  get hasHead(): boolean {
    return this.state !== 'head';
  }

  /** Parses the next bytes. After a MalformedResponse is thrown, the parser must not be used. */
  feed(bytes: Bytes): void {
    const input = this.incomplete ? Buffer.concat([this.incomplete, bytes]) : bytes;
    this.incomplete = undefined;
    let at = 0;
    while (at < input.length) {
      const next = this.parseNext(input, at);
      if (next === INCOMPLETE) {
        this.incomplete = input.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** Called when the connection was closed. Returns true if the response is complete. */
  close(): boolean {
    if (this.state === 'until-close') this.end();
    return this.isDone;
  }

  /**
   * Parses the head, a line, or some bytes of the body. Returns the position after them, or
   * INCOMPLETE.
   */
  private parseNext(input: Bytes, at: number): number {
    switch (this.state) {
      case 'head':
        return this.readHead(input, at);
      case 'sized':
      case 'chunk':
        return this.readBody(input, at);
      case 'until-close':
        this.sink.onData(input, at, input.length);
        return input.length;
      case 'done':
        // Bytes that follow a complete response belong to no request. So no request may use this
        // connection again.
        this.isReusable = false;
        this.hasExtraBytes = true;
        return input.length;
      default:
        return this.readLine(input, at);
    }
  }

  private readHead(input: Bytes, at: number): number {
    const end = input.indexOf(END_OF_HEAD, at, 'latin1');
    if (end < 0 ? input.length - at > MAX_HEAD_BYTES : end - at > MAX_HEAD_BYTES) {
      throw new MalformedResponse('the head of the response is too long');
    }
    if (end < 0) return INCOMPLETE;
    const text = input.toString('latin1', at, end);
    if (!HEAD.test(text)) throw new MalformedResponse('the response has no valid HTTP/1.1 head');
    const status = Number(text.slice(9, 12));
    // An informational response, such as Early Hints, comes before the final one (RFC 9110, 15.2).
    if (status >= 100 && status < 200 && status !== 101) {
      this.addOverhead(text.length);
      return end + END_OF_HEAD.length;
    }
    if (status === 101) throw new MalformedResponse('the upstream switched to another protocol');
    const headers = new ResponseHeaders(text);
    this.chooseFraming(status, headers, text.startsWith('HTTP/1.1'));
    const body_bytes = this.state === 'sized' ? this.remaining_bytes : undefined;
    this.sink.onHead({ status, headers, body_bytes });
    if (this.state === 'sized' && this.remaining_bytes === 0) this.end();
    return end + END_OF_HEAD.length;
  }

  /** Chooses how the end of the body is found (RFC 9112, 6.3). */
  private chooseFraming(status: number, headers: ResponseHeaders, isHttp11: boolean): void {
    const connection = headers.get('connection')?.toLowerCase() ?? '';
    this.isReusable = isHttp11 ? !connection.includes('close') : connection.includes('keep-alive');
    const coding = headers.get('transfer-encoding')?.toLowerCase();
    const length = headers.get('content-length');
    if (this.isBodiless || status === 204 || status === 304) {
      this.state = 'sized';
    } else if (coding !== undefined) {
      if (coding !== 'chunked')
        throw new MalformedResponse('the response has an unknown transfer coding');
      if (length !== null) this.isReusable = false;
      this.state = 'chunk-size';
    } else if (length === null) {
      this.isReusable = false;
      this.state = 'until-close';
    } else {
      if (!CONTENT_LENGTH.test(length))
        throw new MalformedResponse('the response has an invalid content length');
      this.remaining_bytes = Number(length);
      this.state = 'sized';
    }
  }

  private readBody(input: Bytes, at: number): number {
    const end = Math.min(input.length, at + this.remaining_bytes);
    this.remaining_bytes -= end - at;
    this.sink.onData(input, at, end);
    if (this.remaining_bytes > 0) return end;
    if (this.state === 'sized') this.end();
    else this.state = 'chunk-end';
    return end;
  }

  private readLine(input: Bytes, at: number): number {
    const end = input.indexOf(END_OF_LINE, at, 'latin1');
    if (end < 0 ? input.length - at > MAX_LINE_BYTES : end - at > MAX_LINE_BYTES) {
      throw new MalformedResponse('a line of the response is too long');
    }
    if (end < 0) return INCOMPLETE;
    this.parseLine(input.toString('latin1', at, end));
    return end + END_OF_LINE.length;
  }

  private parseLine(line: string): void {
    if (this.state === 'chunk-size') {
      const size = CHUNK_SIZE.exec(line)?.[1];
      if (size === undefined) throw new MalformedResponse('a chunk has an invalid size');
      if (line.length > PLAIN_SIZE_CHARS) this.addOverhead(line.length);
      this.remaining_bytes = Number.parseInt(size, 16);
      this.state = this.remaining_bytes === 0 ? 'trailer' : 'chunk';
    } else if (this.state === 'chunk-end') {
      if (line !== '') throw new MalformedResponse('a chunk is longer than its size');
      this.state = 'chunk-size';
    } else if (line === '') this.end();
    else this.addOverhead(line.length);
  }

  private addOverhead(bytes: number): void {
    this.overhead_bytes += bytes;
    if (this.overhead_bytes <= MAX_OVERHEAD_BYTES) return;
    throw new MalformedResponse('the response has too many bytes around its head and body');
  }

  private end(): void {
    this.state = 'done';
    this.sink.onEnd();
  }
}

import { ResponseHeaders } from './response-headers.ts';

/** Longest head that is read, as with Bun's own client. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** Longest size line of a chunk, with its extensions, and longest line of a trailer. */
export const MAX_LINE_BYTES = 8 * 1024;

/** Bytes as a socket gives them. */
export type Bytes = Buffer<ArrayBuffer>;

export interface ParsedHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** Who is told of an answer as it is read. */
export interface ParserSink {
  onHead(head: ParsedHead): void;
  /** A piece of the body: of the bytes that came those from `from` up to `to`. */
  onData(bytes: Bytes, from: number, to: number): void;
  onEnd(): void;
}

/** What came is no HTTP/1.1 answer. */
export class MalformedResponse extends Error {
  override readonly name = 'MalformedAnswer';
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
/** Instead of a position: what is there is not enough yet. */
const MORE = -1;

/** Reads one answer of a connection out of bytes that may be cut anywhere (RFC 9112). */
export class ResponseParser {
  private state: State = 'head';
  /** The beginning of a head or of a line, to be completed. */
  private rest: Bytes | undefined;
  /** Bytes of the body or chunk that are still to come. */
  private left = 0;
  private reusable = false;

  constructor(private readonly sink: ParserSink) {}

  get done(): boolean {
    return this.state === 'done';
  }

  /** True once the answer is whole and another one may follow it. */
  get keepsConnection(): boolean {
    return this.done && this.reusable;
  }

  /** Takes what came. Throws MalformedAnswer; after that nothing more may be fed. */
  feed(bytes: Bytes): void {
    const input = this.rest ? Buffer.concat([this.rest, bytes]) : bytes;
    this.rest = undefined;
    let at = 0;
    while (at < input.length) {
      const next = this.step(input, at);
      if (next === MORE) {
        this.rest = input.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** The connection was closed; true if that was the end of a whole answer. */
  close(): boolean {
    if (this.state === 'until-close') this.end();
    return this.done;
  }

  /** Reads from `at` on; the position after it, or MORE. */
  private step(input: Bytes, at: number): number {
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
        // Nobody asked for this: the two sides are out of step.
        this.reusable = false;
        return input.length;
      default:
        return this.readLine(input, at);
    }
  }

  private readHead(input: Bytes, at: number): number {
    const end = input.indexOf(END_OF_HEAD, at, 'latin1');
    if (end < 0 ? input.length - at > MAX_HEAD_BYTES : end - at > MAX_HEAD_BYTES) {
      throw new MalformedResponse('a head without end');
    }
    if (end < 0) return MORE;
    const text = input.toString('latin1', at, end);
    if (!HEAD.test(text)) throw new MalformedResponse('no head of HTTP/1.1');
    const status = Number(text.slice(9, 12));
    // Early hints and the like: the answer is still to come (RFC 9110, 15.2).
    if (status >= 100 && status < 200 && status !== 101) return end + END_OF_HEAD.length;
    if (status === 101) throw new MalformedResponse('another protocol than was asked for');
    const headers = new ResponseHeaders(text);
    this.expectBody(status, headers, text.startsWith('HTTP/1.1'));
    this.sink.onHead({ status, headers });
    if (this.state === 'sized' && this.left === 0) this.end();
    return end + END_OF_HEAD.length;
  }

  /** How the body's end will be known (RFC 9112, 6.3). */
  private expectBody(status: number, headers: ResponseHeaders, isCurrent: boolean): void {
    const connection = headers.get('connection')?.toLowerCase() ?? '';
    this.reusable = isCurrent ? !connection.includes('close') : connection.includes('keep-alive');
    const coding = headers.get('transfer-encoding')?.toLowerCase();
    const length = headers.get('content-length');
    if (status === 204 || status === 304) {
      this.state = 'sized';
    } else if (coding !== undefined) {
      if (coding !== 'chunked') throw new MalformedResponse('an unknown transfer coding');
      if (length !== null) this.reusable = false;
      this.state = 'chunk-size';
    } else if (length === null) {
      this.reusable = false;
      this.state = 'until-close';
    } else {
      if (!CONTENT_LENGTH.test(length)) throw new MalformedResponse('no length of a body');
      this.left = Number(length);
      this.state = 'sized';
    }
  }

  private readBody(input: Bytes, at: number): number {
    const end = Math.min(input.length, at + this.left);
    this.left -= end - at;
    this.sink.onData(input, at, end);
    if (this.left > 0) return end;
    if (this.state === 'sized') this.end();
    else this.state = 'chunk-end';
    return end;
  }

  private readLine(input: Bytes, at: number): number {
    const end = input.indexOf(END_OF_LINE, at, 'latin1');
    if (end < 0 ? input.length - at > MAX_LINE_BYTES : end - at > MAX_LINE_BYTES) {
      throw new MalformedResponse('a line without end');
    }
    if (end < 0) return MORE;
    this.takeLine(input.toString('latin1', at, end));
    return end + END_OF_LINE.length;
  }

  private takeLine(line: string): void {
    if (this.state === 'chunk-size') {
      const size = CHUNK_SIZE.exec(line)?.[1];
      if (size === undefined) throw new MalformedResponse('no size of a chunk');
      this.left = Number.parseInt(size, 16);
      this.state = this.left === 0 ? 'trailer' : 'chunk';
    } else if (this.state === 'chunk-end') {
      if (line !== '') throw new MalformedResponse('a chunk longer than its size');
      this.state = 'chunk-size';
    } else if (line === '') this.end();
  }

  private end(): void {
    this.state = 'done';
    this.sink.onEnd();
  }
}

import { describe, expect, test } from 'bun:test';
import { MAX_HEAD_BYTES, MalformedResponse } from '../../../../src/upstreams/transport/http.ts';
import {
  type Bytes,
  MAX_LINE_BYTES,
  MAX_OVERHEAD_BYTES,
  ResponseParser,
} from '../../../../src/upstreams/transport/http1/response-parser.ts';
import { fc } from '../../../support/property.ts';

/** A parsed response. */
interface ParsedResponse {
  status: number;
  type: string | null;
  body: string;
  hasEnded: boolean;
  canReuse: boolean;
}

/**
 * Parses bytes that arrive in these pieces. If `closes` is true, the connection closes after them.
 */
function read(pieces: readonly Uint8Array[], closes = false): ParsedResponse {
  const body: Bytes[] = [];
  const result: ParsedResponse = {
    status: 0,
    type: null,
    body: '',
    hasEnded: false,
    canReuse: false,
  };
  const parser = new ResponseParser({
    onHead({ status, headers }) {
      result.status = status;
      result.type = headers.get('content-type');
    },
    onData: (bytes, from, to) => body.push(Buffer.from(bytes.subarray(from, to))),
    onEnd() {
      expect(result.hasEnded).toBe(false);
      result.hasEnded = true;
    },
  });
  for (const piece of pieces) parser.feed(Buffer.from(piece));
  if (closes) expect(parser.close()).toBe(result.hasEnded);
  result.body = Buffer.concat(body).toString();
  result.canReuse = parser.canReuseConnection;
  return result;
}

const bytes = (text: string) => Buffer.from(text);
const whole = (text: string, closes = false) => read([bytes(text)], closes);

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const SIZED = `${HEAD}Content-Length: 5\r\n\r\nhello`;
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;name="value"\r\nlo\r\n0\r\nTrailer: x\r\n\r\n`;
const HELLO = { status: 200, type: 'text/plain', body: 'hello', hasEnded: true, canReuse: true };

describe('parsing a response', () => {
  test('reads a body by its length, by chunks, and up to the end of the connection', () => {
    expect(whole(SIZED)).toEqual(HELLO);
    expect(whole(CHUNKED)).toEqual(HELLO);
    const open = `${HEAD}\r\nhello`;
    expect(whole(open)).toEqual({ ...HELLO, hasEnded: false, canReuse: false });
    expect(whole(open, true)).toEqual({ ...HELLO, canReuse: false });
  });

  test('returns the same response wherever the bytes are cut', () => {
    const hints = `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`;
    const answers = [SIZED, CHUNKED, hints + SIZED, hints + CHUNKED, `${HEAD}\r\nhello`];
    fc.assert(
      fc.property(
        fc.constantFrom(...answers),
        fc.array(fc.nat(300), { maxLength: 40 }),
        (answer, cuts) => {
          const all = bytes(answer);
          const at = [0, ...cuts.filter((cut) => cut < all.length).sort((a, b) => a - b)];
          const pieces = at.map((from, index) => all.subarray(from, at[index + 1]));
          expect(read(pieces, true)).toEqual(read([all], true));
        },
      ),
      { numRuns: 2_000 },
    );
    for (const answer of answers) {
      const single = [...bytes(answer)].map((byte) => Uint8Array.of(byte));
      expect(read(single, true)).toEqual(whole(answer, true));
    }
  });

  test('returns a response or throws MalformedResponse for any bytes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('', HEAD, CHUNKED.slice(0, 80)),
        fc.uint8Array(),
        (start, rest) => {
          try {
            read([bytes(start), rest], true);
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedResponse);
          }
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test('accepts responses without a body', () => {
    for (const status of ['204 No Content', '304 Not Modified']) {
      const read = whole(`HTTP/1.1 ${status}\r\nContent-Length: 7\r\n\r\n`);
      expect(read).toMatchObject({ body: '', hasEnded: true, canReuse: true });
    }
    expect(whole(`${HEAD}Content-Length: 0\r\n\r\n`)).toEqual({ ...HELLO, body: '' });
    expect(whole(`${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)).toEqual({
      ...HELLO,
      body: '',
    });
  });

  test('reuses the connection only if the headers and the bytes allow it', () => {
    const canReuse = (head: string) => whole(`${head}\r\nContent-Length: 0\r\n\r\n`).canReuse;
    expect(canReuse('HTTP/1.1 200 OK')).toBe(true);
    expect(canReuse('HTTP/1.1 200 OK\r\nconnection: Close')).toBe(false);
    expect(canReuse('HTTP/1.0 200 OK')).toBe(false);
    expect(canReuse('HTTP/1.0 200 OK\r\nConnection: Keep-Alive')).toBe(true);
    // The two lengths differ, so the end of this response is not certain.
    const both = `${HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    expect(whole(both)).toEqual({ ...HELLO, canReuse: false });
    expect(whole(`${SIZED}HTTP/1.1 200 OK\r\n`)).toEqual({ ...HELLO, canReuse: false });
  });

  test('finds headers by their whole name, and joins repeated ones', () => {
    const lines = [
      'X-Name:  padded  ',
      'Vary: a',
      'VARY: b',
      'content-length: 0',
      'x-content-type: no',
    ];
    const parser = new ResponseParser({
      onHead({ headers }) {
        expect(headers.get('x-name')).toBe('padded');
        expect(headers.get('vary')).toBe('a, b');
        expect(headers.get('content-type')).toBeNull();
        expect(headers.has('content-length')).toBe(true);
        expect(headers.has('name')).toBe(false);
      },
      onData: () => undefined,
      onEnd: () => undefined,
    });
    parser.feed(Buffer.from(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`));
    expect(parser.isDone).toBe(true);
  });

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['HTTP/2 without a handshake', 'HTTP/2 200 OK\r\n\r\n'],
    ['no status', 'HTTP/1.1 OK\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: b\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
    ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n`],
    ['two lengths', `${HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`],
    ['an unknown transfer coding', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ['a chunk without a size', `${HEAD}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
    ['a chunk of ten digits', `${HEAD}Transfer-Encoding: chunked\r\n\r\n1000000000\r\n`],
    ['a chunk beyond its size', `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nhel\r\n`],
    ['a head that is too long', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(MAX_HEAD_BYTES)}`],
    [
      'a size line that is too long',
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(MAX_LINE_BYTES)}`,
    ],
  ])('refuses %s', (_, text) => {
    expect(() => whole(text)).toThrow(MalformedResponse);
  });

  test.each([
    ['informational responses', `HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n`, '', SIZED],
    [
      'chunk extensions',
      `1;${'a'.repeat(50)}\r\nx\r\n`,
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n`,
      '0\r\n\r\n',
    ],
    ['trailers', 'Trailer: x\r\n', `${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n`, '\r\n'],
  ])('refuses too many %s, and accepts a few', (_, part, start, end) => {
    expect(whole(start + part.repeat(100) + end).hasEnded).toBe(true);
    const parts = Math.ceil((1.2 * MAX_OVERHEAD_BYTES) / part.trim().length);
    expect(() => whole(start + part.repeat(parts) + end)).toThrow(MalformedResponse);
  });

  test('accepts any number of chunks without extensions', () => {
    const text = `${HEAD}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(200_000)}0\r\n\r\n`;
    expect(whole(text).body.length).toBe(200_000);
  });

  test('is not complete if the connection closes too early', () => {
    for (const text of ['', 'HTTP/1.1 200', SIZED.slice(0, -1), CHUNKED.slice(0, -1)]) {
      expect(whole(text, true).hasEnded).toBe(false);
    }
  });
});

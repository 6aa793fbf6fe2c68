/** Requests whose length two readers could understand differently (RFC 9112, sections 5, 6 and 11). */

export interface Smuggling {
  name: string;
  /**
   * Returns the bytes to send. `head` ends after its last header. `body` is the JSON of the outer
   * call. `hidden` is a complete call that must not be read as a call.
   */
  write(parts: Parts): string | string[];
}

interface Parts {
  head: string;
  body: string;
  hidden: string;
}

const hex = (text: string) => text.length.toString(16);
const chunked = (text: string) => `${hex(text)}\r\n${text}\r\n0\r\n\r\n`;

/**
 * Requests with both lengths. A reader of one length skips the bytes that a reader of the other
 * length reads as a call.
 */
function bothLengths(): Smuggling[] {
  const encodings = [
    ...['chunked', 'Chunked', 'CHUNKED', ' chunked', '\tchunked', 'chunked ', 'chunked\t'],
    ...['xchunked', 'chunkedx', '"chunked"', "'chunked'", 'chunked,', ',chunked', 'chunked;q=1'],
    ...['identity', 'identity, chunked', 'chunked, identity', 'gzip, chunked', 'chunked, chunked'],
    ...['chunked\x00', '\x0bchunked', '\x0cchunked', 'chu\x00nked', 'ch\u00fcnked', 'x', ''],
  ];
  return encodings.map((encoding) => ({
    name: `Content-Length and Transfer-Encoding: ${JSON.stringify(encoding)}`,
    write: ({ head, hidden }) => {
      const tail = `0\r\n\r\n${hidden}`;
      return `${head}Content-Length: ${tail.length}\r\nTransfer-Encoding: ${encoding}\r\n\r\n${tail}`;
    },
  }));
}

/** Names of headers that only one of two readers reads as Transfer-Encoding or Content-Length. */
function oddNames(): Smuggling[] {
  const names = [
    ...['Transfer-Encoding ', ' Transfer-Encoding', '\tTransfer-Encoding', 'Transfer-Encoding\t'],
    ...[
      'Transfer_Encoding',
      'Transfer-Encoding\x00',
      'X: y\rTransfer-Encoding',
      'Transfer\x00-Encoding',
    ],
    ...[
      'Foo\nTransfer-Encoding',
      'X: y\nTransfer-Encoding',
      'Transfer-Encoding\x0b',
      '\x00Transfer-Encoding',
    ],
  ];
  return names.map((name) => ({
    name: `Content-Length and the header ${JSON.stringify(name)}`,
    write: ({ head, hidden }) => {
      const tail = `0\r\n\r\n${hidden}`;
      return `${head}Content-Length: ${tail.length}\r\n${name}: chunked\r\n\r\n${tail}`;
    },
  }));
}

/** Lengths that are no number, or that are two numbers. */
function oddLengths(): Smuggling[] {
  const lengths: Record<string, (length: number) => string> = {
    'two, short then long': (n) => `Content-Length: 0\r\nContent-Length: ${n}`,
    'two, long then short': (n) => `Content-Length: ${n}\r\nContent-Length: 0`,
    'two, in a list': (n) => `Content-Length: ${n}, 0`,
    'two, in a list the other way': (n) => `Content-Length: 0, ${n}`,
    'a sign': (n) => `Content-Length: +${n}`,
    'below zero': (n) => `Content-Length: -${n}`,
    'minus zero': () => 'Content-Length: -0',
    hexadecimal: (n) => `Content-Length: 0x${n.toString(16)}`,
    octal: (n) => `Content-Length: 0o${n.toString(8)}`,
    'with an exponent': (n) => `Content-Length: ${n}e0`,
    'with a fraction': (n) => `Content-Length: ${n}.0`,
    'with underscores': (n) => `Content-Length: ${String(n)[0]}_${String(n).slice(1)}`,
    'a space inside': (n) => `Content-Length: ${String(n)[0]} ${String(n).slice(1)}`,
    'a NUL at the end': (n) => `Content-Length: ${n}\x00`,
    'a semicolon': (n) => `Content-Length: ${n};0`,
    'a letter at the end': (n) => `Content-Length: ${n}x`,
    'not a number': () => 'Content-Length: NaN',
    infinity: () => 'Content-Length: Infinity',
    'above 64 bits': () => 'Content-Length: 18446744073709551617',
    'above 53 bits': () => 'Content-Length: 9007199254740993',
    'a space before the colon': (n) => `Content-Length : ${n}`,
    'folded onto the next line': (n) => `Content-Length:\r\n ${n}`,
    'full-width digits': () => 'Content-Length: \uff11\uff10',
    quoted: (n) => `Content-Length: "${n}"`,
  };
  return Object.entries(lengths).map(([what, write]) => ({
    name: `Content-Length: ${what}`,
    write: ({ head, hidden }) => `${head}${write(hidden.length)}\r\n\r\n${hidden}`,
  }));
}

/**
 * Chunks whose size two readers could understand differently. The hidden call is inside one of the
 * chunks.
 */
function oddChunks(): Smuggling[] {
  const sizes: Record<string, (text: string) => string> = {
    'a sign': (text) => `+${hex(text)}\r\n${text}\r\n0\r\n\r\n`,
    'a minus': (text) => `-${hex(text)}\r\n${text}\r\n0\r\n\r\n`,
    '0x in front': (text) => `0x${hex(text)}\r\n${text}\r\n0\r\n\r\n`,
    'a space in front': (text) => ` ${hex(text)}\r\n${text}\r\n0\r\n\r\n`,
    'an underscore': (text) => `${hex(text)}_0\r\n${text}\r\n0\r\n\r\n`,
    'above 64 bits': (text) => `1${'0'.repeat(16)}${hex(text)}\r\n${text}\r\n0\r\n\r\n`,
    'above 32 bits': (text) => `100000000\r\n${text}\r\n0\r\n\r\n`,
    'no digit': (text) => `\r\n${text}\r\n0\r\n\r\n`,
    'no hexadecimal': (text) => `zz\r\n${text}\r\n0\r\n\r\n`,
    'a NUL': (text) => `${hex(text)}\x00\r\n${text}\r\n0\r\n\r\n`,
    'too short': (text) => `1\r\n${text}\r\n0\r\n\r\n`,
    'one too long': (text) => `${(text.length + 1).toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    'ended by LF only': (text) => `${hex(text)}\n${text}\r\n0\r\n\r\n`,
    'ended by CR only': (text) => `${hex(text)}\r${text}\r\n0\r\n\r\n`,
    'LF after the chunk': (text) => `${hex(text)}\r\n${text}\n0\r\n\r\n`,
    'nothing after the chunk': (text) => `${hex(text)}\r\n${text}0\r\n\r\n`,
    'an extension with LF': (text) => `${hex(text)};a\nb\r\n${text}\r\n0\r\n\r\n`,
    'an extension with CR': (text) => `${hex(text)};a\rb\r\n${text}\r\n0\r\n\r\n`,
    'an extension that is the call': (text) => `0;${text}\r\n\r\n`,
    'a trailer that is the call': (text) => `0\r\nX: ${text}`,
  };
  return Object.entries(sizes).map(([what, write]) => ({
    name: `chunk size: ${what}`,
    write: ({ head, hidden }) => `${head}Transfer-Encoding: chunked\r\n\r\n${write(hidden)}`,
  }));
}

/** Characters that only one of two readers takes for the end of a line or of the headers. */
function oddLines(): Smuggling[] {
  const attempts: Record<string, Smuggling['write']> = {
    'the call in the value of a header': ({ head, hidden }) => `${head}X: ${hidden}`,
    'the call in a folded header': ({ head, hidden }) =>
      `${head}X: y\r\n ${hidden.replaceAll('\r\n', '\r\n ')}\r\n\r\n`,
    'headers ended by CR CR': ({ head, hidden }) => `${head.trimEnd()}\r\r${hidden}`,
    'NUL instead of the empty line': ({ head, hidden }) => `${head}\x00\r\n${hidden}`,
    'a target with the call': ({ hidden }) => `GET /${hidden}`,
    'a method with the call': ({ hidden }) => `X${hidden.slice(4)}`.replace('X', 'GE\x00T'),
    'a version with the call': ({ hidden }) => `GET / HTTP/1.1 ${hidden}`,
    'two Host headers with the call': ({ hidden }) =>
      `GET / HTTP/1.1\r\nHost: a\r\nHost: ${hidden}`,
    'HTTP/1.0 with chunks': ({ head, hidden }) =>
      `${head.replace('HTTP/1.1', 'HTTP/1.0')}Transfer-Encoding: chunked\r\n\r\n${chunked(hidden)}`,
    'an upgrade to h2c': ({ head, hidden }) =>
      `${head}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n` +
      `Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    'a PRI preface': ({ hidden }) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`,
    'a body for Expect': ({ head, hidden }) => [
      `${head}Expect: 100-continue\r\nContent-Length: ${hidden.length}\r\n\r\n`,
      hidden,
    ],
    'a body in pieces': ({ head, hidden }) => [
      `${head}Content-Length: ${hidden.length}\r\n\r\n`,
      hidden.slice(0, 20),
      hidden.slice(20),
    ],
    'a body of a GET': ({ hidden }) =>
      `GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    'a body of a refused key': ({ hidden }) =>
      'POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer sk-no\r\n' +
      `Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    'a body of an unknown path': ({ hidden }) =>
      `POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    'a chunked body of an unknown path': ({ hidden }) =>
      `POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(hidden)}`,
  };
  return Object.entries(attempts).map(([name, write]) => ({ name, write }));
}

export const SMUGGLED: Smuggling[] = [
  ...bothLengths(),
  ...oddNames(),
  ...oddLengths(),
  ...oddChunks(),
  ...oddLines(),
];

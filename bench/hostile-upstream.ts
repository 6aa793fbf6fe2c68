/**
 * A hostile upstream, in a process of its own. The first part of a request's path names its attack.
 * It prints its URL. Like every upstream, it sends only as fast as Weir reads.
 */
import { ENDLESS_MODEL, SILENT_MODEL, type UpstreamAttack } from './attacks.ts';

/** What is sent once, and what is then sent again and again. */
interface Flood {
  start: string;
  again: string;
  /** True if each byte is a packet of its own. */
  isSlow?: boolean;
}

interface Connection {
  head: string;
  flood: Flood | undefined;
  /** The bytes that are sent again and again, and the position in them. */
  bytes: Buffer;
  at: number;
}

const PIECE_BYTES = 64 * 1024;
const filled = (text: string) => text.repeat(Math.ceil(PIECE_BYTES / text.length));
const head = (type: string, more = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${more}Connection: close\r\n`;
const STREAM = `${head('text/event-stream')}\r\n`;
const CHUNKED = head('application/json', 'Transfer-Encoding: chunked\r\n');
const event = (content: string) => {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`;
};

const FLOODS: Record<UpstreamAttack | typeof ENDLESS_MODEL | typeof SILENT_MODEL, Flood> = {
  comments: { start: STREAM, again: filled(': nothing\n\n') },
  'early-hints': { start: '', again: filled('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n') },
  trailers: { start: `${CHUNKED}\r\n2\r\n{}\r\n0\r\n`, again: filled('X-Trailer: 1\r\n') },
  'long-line': { start: `${STREAM}data: {"x":"`, again: filled('x') },
  'endless-body': { start: `${head('application/json')}\r\n{"x":"`, again: filled('x') },
  'single-bytes': { start: STREAM, again: event('word '), isSlow: true },
  [SILENT_MODEL]: { start: '', again: '' },
  [ENDLESS_MODEL]: { start: STREAM, again: event('x'.repeat(16_000)) },
};

const server = Bun.listen<Connection>({
  ...{ hostname: '127.0.0.1', port: 0 },
  socket: {
    open(socket) {
      socket.data = { head: '', flood: undefined, bytes: Buffer.alloc(0), at: 0 };
    },
    data(socket, bytes) {
      const { data } = socket;
      if (data.flood) return;
      data.head += bytes.toString('latin1');
      const [, name = ''] = /^POST \/([\w-]+)\//.exec(data.head) ?? [];
      if (!Object.hasOwn(FLOODS, name)) return;
      data.flood = FLOODS[name as keyof typeof FLOODS];
      data.bytes = Buffer.from(data.flood.start + data.flood.again);
      if (data.flood.isSlow) trickle(socket);
      else flood(socket);
    },
    drain(socket) {
      if (socket.data.flood && !socket.data.flood.isSlow) flood(socket);
    },
    error: () => undefined,
  },
});
console.log(`http://127.0.0.1:${server.port}`);

/** Sends as much as Weir takes now. */
function flood(socket: Bun.Socket<Connection>): void {
  const { data } = socket;
  while (data.bytes.length > 0) {
    const written = socket.write(data.bytes, data.at);
    if (written <= 0) return;
    data.at += written;
    if (data.at < data.bytes.length) return;
    data.bytes = Buffer.from(data.flood?.again ?? '');
    data.at = 0;
  }
}

/** Sends one byte in each turn of the loop. */
function trickle(socket: Bun.Socket<Connection>): void {
  const { data } = socket;
  socket.setNoDelay(true);
  const timer = setInterval(() => {
    if (socket.readyState <= 0) return clearInterval(timer);
    data.at += Math.max(0, socket.write(data.bytes, data.at, 1));
    if (data.at < data.bytes.length) return;
    data.bytes = Buffer.from(data.flood?.again ?? '');
    data.at = 0;
  }, 1);
}

import type { Socket } from 'bun';

/** One received request. */
interface ReceivedRequest {
  head: string;
  body: string;
  /** Number of the connection: 0 for the first one, 1 for the next. */
  connection: number;
  socket: Socket<ConnectionState>;
}

/** The state of one connection. */
interface ConnectionState {
  number: number;
  bytes: Buffer;
}

/** A running upstream. */
export interface TcpUpstream {
  url: string;
  received: ReceivedRequest[];
  /** Connections that were opened so far. */
  opened: number;
  /** Connections that were closed so far. */
  closed: number;
  /** Called for every complete request. */
  respond: (request: ReceivedRequest) => void;
  stop(): void;
}

/** Starts an upstream that writes raw bytes, so that tests can send invalid HTTP. */
export function startTcpUpstream(): TcpUpstream {
  const upstream: TcpUpstream = {
    url: '',
    received: [],
    opened: 0,
    closed: 0,
    respond: () => undefined,
    stop: () => listener.stop(true),
  };
  const listener = Bun.listen<ConnectionState>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { number: upstream.opened, bytes: Buffer.alloc(0) };
        upstream.opened += 1;
      },
      data(socket, bytes) {
        const { data } = socket;
        data.bytes = Buffer.concat([data.bytes, bytes]);
        const end = data.bytes.indexOf('\r\n\r\n');
        if (end < 0) return;
        const head = data.bytes.toString('latin1', 0, end);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (data.bytes.length < end + 4 + length) return;
        const body = data.bytes.toString('utf8', end + 4, end + 4 + length);
        data.bytes = data.bytes.subarray(end + 4 + length);
        const request = { head, body, connection: data.number, socket };
        upstream.received.push(request);
        upstream.respond(request);
      },
      close() {
        upstream.closed += 1;
      },
    },
  });
  upstream.url = `http://127.0.0.1:${listener.port}`;
  return upstream;
}

/** Returns a 200 response with this body as HTTP/1.1 text. */
export function answerOf(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}

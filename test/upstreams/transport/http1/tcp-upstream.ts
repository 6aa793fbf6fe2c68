import type { Socket } from 'bun';

/** One request as it came over the wire. */
interface Received {
  head: string;
  body: string;
  /** 0 for what came over the first connection, 1 for the next … */
  connection: number;
  socket: Socket<Inbound>;
}

interface Inbound {
  number: number;
  bytes: Buffer;
}

export interface TcpUpstream {
  url: string;
  received: Received[];
  /** Connections that were ever made, and those that the client has closed. */
  opened: number;
  closed: number;
  /** Called for every whole request. */
  respond: (request: Received) => void;
  stop(): void;
}

/** An upstream that answers with bytes: what no HTTP server would send can be tried. */
export function startTcpUpstream(): TcpUpstream {
  const upstream: TcpUpstream = {
    url: '',
    received: [],
    opened: 0,
    closed: 0,
    respond: () => undefined,
    stop: () => listener.stop(true),
  };
  const listener = Bun.listen<Inbound>({
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

export function answerOf(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}

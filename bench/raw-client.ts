/** HTTP/1.1 by hand: requests that no client library would send. */
import { connect, type Socket } from 'node:net';

/** The Weir that is attacked. */
export interface Victim {
  port: number;
  api_key: string;
  /** A key whose rate is too low for a flood. */
  limited_key: string;
}

/** One request. */
export interface RawRequest {
  path?: string;
  /** The value of `Host`. */
  host?: string;
  key: string;
  /** Further header lines, each with its line end. */
  headers?: string;
  /** The pieces of the body, which are sent as fast as Weir reads. */
  body: readonly (string | Uint8Array)[];
  /** The content length, if it is not that of the body. */
  length?: number;
}

/** The pause of a lane after a request. Without it an attacker that is refused would only use CPU. */
const PAUSE_MS = 20;

/** Runs `work` again and again on this many lanes. Failures are ignored. */
export function repeat(lanes: number, work: (lane: number) => Promise<void>): void {
  for (let lane = 0; lane < lanes; lane += 1) {
    (async () => {
      for (;;) {
        await work(lane).catch(() => undefined);
        await Bun.sleep(PAUSE_MS);
      }
    })();
  }
}

/** Opens a connection and sends the request. Resolves with the first bytes of the answer. */
export async function send(port: number, request: RawRequest): Promise<void> {
  const socket = await open(port);
  try {
    const answer = firstBytes(socket);
    await Promise.race([answer, writeAll(socket, request)]);
    await answer;
  } finally {
    socket.destroy();
  }
}

export function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

/** The head of a POST request. */
export function headOf({ path, host, key, headers, body, length }: RawRequest): string {
  const bytes = length ?? body.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  return (
    `POST ${path ?? '/v1/chat/completions'} HTTP/1.1\r\nHost: ${host ?? 'weir'}\r\n` +
    `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
    `X-Weir-Cache-Control: no_cache\r\n${headers ?? ''}` +
    `Content-Length: ${bytes}\r\n\r\n`
  );
}

async function writeAll(socket: Socket, request: RawRequest): Promise<void> {
  socket.write(headOf(request), 'latin1');
  for (const piece of request.body) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
  }
  // The answer ends the request, not the last byte of the body.
  await new Promise(() => undefined);
}

function firstBytes(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('data', () => resolve());
    socket.once('close', () => resolve());
  });
}

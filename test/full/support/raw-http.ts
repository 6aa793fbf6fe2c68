/** HTTP/1.1 by hand over a socket. Tests use it for requests that no client library would send. */
import { connect } from 'node:net';

export interface RawAnswers {
  /** All text that the server sent. */
  text: string;
  /** Status of each answer, in order. */
  statuses: number[];
  /** True if the server ended the connection. */
  closed: boolean;
}

/** Sends the pieces, with a pause between them, and reads until the server is silent. */
export function sendRaw(
  base_url: string,
  pieces: readonly string[],
  silence_ms = 150,
): Promise<RawAnswers> {
  const { hostname, port } = new URL(base_url);
  return new Promise((resolve) => {
    let text = '';
    let closed = false;
    let timer: Timer | undefined;
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      // A JSON body does not contain these characters.
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));
      resolve({ text, statuses, closed });
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(end, silence_ms);
    };
    socket.on('data', (chunk) => {
      text += chunk;
      wait();
    });
    socket.on('close', () => {
      closed = true;
      end();
    });
    // A reset also ends the exchange, so it is not an error here.
    socket.on('error', () => undefined);
    socket.on('connect', async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        socket.write(Buffer.from(piece, 'latin1'));
        if (pieces.length > 1) await Bun.sleep(5);
      }
      wait();
    });
  });
}

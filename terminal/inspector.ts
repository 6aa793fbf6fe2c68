import { ArgumentError, type InspectorCommand } from './arguments.ts';
import type { InspectClient } from './inspect-client.ts';
import { inspectorPage } from './inspector-page.ts';
import type { Output } from './output.ts';
import { repeat } from './repeat.ts';

const TOPIC = 'frames';
/** The most actors whose introductions a new receiver gets, and the most latest frames. */
const MAX_INTRODUCED = 1_000;
const MAX_RECENT = 200;
/** A receiver that is this far behind is closed. */
const MAX_BUFFERED_BYTES = 16 * 1_024 * 1_024;
const HOSTNAMES = ['localhost', '127.0.0.1'];

/**
 * Serves the events of Weir's actors to Stately's inspector, on this machine only: as a WebSocket as
 * `createWebSocketReceiver` of `@statelyai/inspect` reads it, and as a page with the inspector. Runs until the process
 * ends. Throws RequestError if Weir refuses the stream, and ArgumentError if the port is in use.
 */
export async function inspectorCommand(
  client: InspectClient,
  { machine, id, port, inspector }: InspectorCommand,
  output: Output,
): Promise<void> {
  const recent = new Recent();
  const server = listen(port, inspector, recent);
  output.line(`Inspector  http://localhost:${server.port}/`);
  output.line(`WebSocket  ws://localhost:${server.port}`);
  try {
    await repeat(output, async (onAnswer) => {
      for await (const { event, data } of client.stream({ kind: machine, id })) {
        onAnswer();
        if (data === '' || event !== undefined) continue;
        recent.add(data);
        server.publish(TOPIC, data);
      }
      return false;
    });
  } finally {
    await server.stop(true);
  }
}

/** Throws ArgumentError if another program has the port. */
function listen(port: number, inspector: URL, recent: Recent) {
  try {
    return Bun.serve({
      ...{ hostname: '127.0.0.1', port },
      fetch(request, serving) {
        if (!isOwn(request))
          return new Response('This address is for this machine.', { status: 403 });
        if (serving.upgrade(request, { data: undefined })) return undefined;
        return new Response(inspectorPage(inspector), {
          headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
        });
      },
      websocket: {
        ...{ backpressureLimit: MAX_BUFFERED_BYTES, closeOnBackpressureLimit: true },
        open(socket) {
          for (const text of recent.all) socket.send(text);
          socket.subscribe(TOPIC);
        },
        message: () => undefined,
      },
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EADDRINUSE') throw error;
    throw new ArgumentError(`Port ${port} is in use. Choose another one with --port.`);
  }
}

/**
 * True for a request of this machine that no page of another site sent. Another site could else read the actors with
 * a WebSocket, or with a name of its own that resolves to this machine.
 */
function isOwn({ url, headers }: Request): boolean {
  const { host, hostname } = new URL(url);
  const origin = headers.get('origin');
  return HOSTNAMES.includes(hostname) && (origin === null || origin === `http://${host}`);
}

/** What a receiver that connects later needs: the actors, and the latest frames. */
class Recent {
  private readonly introductions = new Map<string, string>();
  private readonly latest: string[] = [];

  add(data: string): void {
    const { type, sessionId } = JSON.parse(data) as { type: string; sessionId: string };
    if (type === '@xstate.actor') {
      this.introductions.delete(sessionId);
      this.introductions.set(sessionId, data);
      const [oldest = ''] = this.introductions.keys();
      if (this.introductions.size > MAX_INTRODUCED) this.introductions.delete(oldest);
      return;
    }
    this.latest.push(data);
    if (this.latest.length > MAX_RECENT) this.latest.shift();
  }

  get all(): readonly string[] {
    return [...this.introductions.values(), ...this.latest];
  }
}

/**
 * A client of server-sent events that reconnects as the HTML Standard says: with the id of the last
 * event, until the server answers 204. It uses a public parser, and no code of Weir.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';

export interface SeenEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

export interface Connection {
  status: number;
  /** Events and comments, as they come. Returns undefined if the stream has ended. */
  next(): Promise<SeenEvent | undefined>;
  /** The rest of the events, up to the end of the stream. */
  rest(): Promise<SeenEvent[]>;
  /** Comments so far. */
  comments: string[];
  close(): void;
}

/** Opens one event stream. */
export async function openEvents(
  url: string,
  api_key: string,
  last_event_id?: number | string,
): Promise<Connection> {
  const client = new AbortController();
  const response = await fetch(url, {
    signal: client.signal,
    headers: {
      authorization: `Bearer ${api_key}`,
      accept: 'text/event-stream',
      ...(last_event_id === undefined ? {} : { 'last-event-id': String(last_event_id) }),
    },
  });
  const comments: string[] = [];
  const parser = new EventSourceParserStream({ onComment: (text) => void comments.push(text) });
  const reader = (response.body ?? new ReadableStream<Uint8Array>())
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(parser)
    .getReader();
  const next = async (): Promise<SeenEvent | undefined> => {
    const { value, done } = await reader.read();
    if (done) return undefined;
    const { id, event = '', data } = value;
    return { id: Number(id), event, data: JSON.parse(data) };
  };
  return {
    status: response.status,
    comments,
    next,
    async rest() {
      const events: SeenEvent[] = [];
      for (let event = await next(); event; event = await next()) events.push(event);
      return events;
    },
    close: () => client.abort(),
  };
}

/** Pause before another connection. Browsers wait about three seconds. */
const RECONNECT_MS = 200;

/**
 * Reads all events of a task, over as many connections as needed, until the server says that there
 * are no more. `urlOf` returns the address of each connection.
 */
export async function followEvents(
  urlOf: (connection: number) => string,
  api_key: string,
): Promise<SeenEvent[]> {
  const events: SeenEvent[] = [];
  for (let connection = 0; ; connection += 1) {
    try {
      const open = await openEvents(urlOf(connection), api_key, events.at(-1)?.id);
      if (open.status === 204) return events;
      for (let event = await open.next(); event; event = await open.next()) events.push(event);
    } catch {
      // The server cannot be reached. The client connects again after the pause.
    }
    await Bun.sleep(RECONNECT_MS);
  }
}

import { WeirError } from '../errors/weir-error.ts';
import type { RequestContext } from './endpoint.ts';
import {
  EVENT_STREAM_HEADERS,
  MAX_STREAM_MS,
  STALLED_AFTER_S,
  STREAM_HEARTBEAT_MS,
} from './event-stream.ts';

/** What an event stream sends, piece by piece. */
interface Source<News> {
  /** Returns what comes next; what stands for nothing within `wait_ms`; null if the stream ended. */
  next(wait_ms: number): Promise<News | null>;
  close(): void;
}

interface CheckedStreamParts<News> {
  readonly context: RequestContext;
  /** Undefined if too many streams are open. */
  readonly source: Source<News> | undefined;
  /** The first text; default: a comment, so that the client knows that the stream is open. */
  readonly first?: string;
  /** Returns the events of a piece; '' = none, so a comment keeps the connection open. */
  readonly textOf: (news: News) => string;
  /** Called before each piece is sent. Throws if the caller may no longer watch; then the stream ends. */
  readonly admit: () => Promise<unknown>;
}

/**
 * Returns a response of server-sent events for somebody who watches. Throws WeirError if too many streams are
 * open. A client that reads nothing is disconnected, and each stream ends after an hour; its client resumes.
 */
export function checkedStream<News>(parts: CheckedStreamParts<News>): Response {
  const { source, context } = parts;
  if (!source) {
    const message = 'Too many event streams are open.';
    throw new WeirError('service_unavailable', message, { retry_after: 10 });
  }
  const body = new ReadableStream<string>({
    type: 'direct',
    pull: (client) => pump(client, source, parts),
    cancel: () => source.close(),
  });
  context.server?.timeout(context.request, STALLED_AFTER_S);
  return new Response(body, { headers: EVENT_STREAM_HEADERS });
}

async function pump<News>(
  client: Pick<ReadableStreamDirectController, 'write' | 'flush' | 'end'>,
  source: Source<News>,
  { context, first = ': open\n\n', textOf, admit }: CheckedStreamParts<News>,
): Promise<void> {
  const ends_at_ms = performance.now() + MAX_STREAM_MS;
  try {
    client.write(first);
    client.flush();
    while (performance.now() < ends_at_ms) {
      const news = await source.next(STREAM_HEARTBEAT_MS);
      if (news === null) break;
      await admit();
      context.server?.timeout(context.request, STALLED_AFTER_S);
      const written = client.write(textOf(news) || ': keep-alive\n\n');
      const sent = client.flush();
      await written;
      await sent;
    }
  } catch {
    // The stream ends. If the client resumes, it gets the error.
  }
  source.close();
  client.end();
}

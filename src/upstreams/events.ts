import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { RetryableUpstreamError, type StreamEvent } from './contract.ts';
import type { Exchange } from './http.ts';

/** One event may be this long: 1 MB of tool arguments in one delta fits. */
export const MAX_EVENT_CHARS = 8 * 1024 * 1024;

/** What a provider's dialect makes of one event. */
export interface Dialect {
  /** The public form of an event; undefined = not for the client. Throws what a broken one means. */
  take(event: EventSourceMessage): StreamEvent | undefined;
  /** True once the terminal event was seen. */
  ended(): boolean;
  /** What is missing when the bytes ended; throws if the answer was cut off. */
  atEnd(): StreamEvent[];
}

/**
 * Reads a stream of server-sent events batch by batch. Bytes may be cut anywhere, inside
 * characters too. Leaving the loop early aborts the upstream.
 */
export async function* readEvents(
  exchange: Exchange,
  dialect: Dialect,
): AsyncGenerator<StreamEvent[]> {
  const { body } = exchange.response;
  if (!body) throw new RetryableUpstreamError('malformed', 'a stream without a body');
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let batch: StreamEvent[] = [];
  let pending = 0;
  const parser = createParser({
    onEvent(event) {
      pending = 0;
      const taken = dialect.take(event);
      if (taken) batch.push(taken);
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) exchange.finished();
      else exchange.alive();
      const text = done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
      pending += text.length;
      parser.feed(text);
      if (pending > MAX_EVENT_CHARS) {
        throw new RetryableUpstreamError('malformed', 'an event without end');
      }
      if (done && !dialect.ended()) batch.push(...dialect.atEnd());
      if (batch.length > 0) yield batch;
      if (done || dialect.ended()) return;
      batch = [];
    }
  } catch (error) {
    throw explained(exchange, error);
  } finally {
    exchange.close();
    await reader.cancel().catch(() => undefined);
  }
}

function explained(exchange: Exchange, error: unknown): unknown {
  const ours = error instanceof Error && error.name.endsWith('UpstreamError');
  return ours ? error : exchange.explain(error);
}

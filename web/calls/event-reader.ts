import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Yields the server-sent events of a body until it ends. Throws if the body breaks. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<EventSourceMessage> {
  const waiting: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => waiting.push(event) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (value) parser.feed(decoder.decode(value, { stream: true }));
      yield* waiting.splice(0);
      if (done) return;
    }
  } finally {
    // A reader that stops early ends the call, so nothing more is charged.
    await reader.cancel().catch(() => undefined);
  }
}

import { createParser } from 'eventsource-parser';
import { isObject } from '../../json/object.ts';
import { MAX_ANSWER_BYTES, type OnPiece, tooLargeError } from '../transport/bounded-body.ts';
import type { HttpResponse } from '../transport/http.ts';

type JsonObject = Record<string, unknown>;

/**
 * Reads an answer that arrives as server-sent events. `onEvent` receives the JSON of each event.
 * Returns that of the last event; `{}` if there is none. Throws RetryableUpstreamError if the answer
 * is too large.
 */
export async function readEventAnswer(
  { body }: HttpResponse,
  onPiece: OnPiece,
  onEvent: (event: JsonObject) => void,
): Promise<JsonObject> {
  let last: JsonObject = {};
  const parser = createParser({
    maxBufferSize: MAX_ANSWER_BYTES,
    onEvent({ data }) {
      const event = parsed(data);
      if (!event) return;
      last = event;
      onEvent(event);
    },
  });
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let bytes = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw tooLargeError();
    await onPiece(value.byteLength);
    parser.feed(decoder.decode(value, { stream: true }));
  }
  // The last event may have no blank line after it.
  parser.feed(`${decoder.decode()}\n\n`);
  return last;
}

/** Returns the JSON object of an event; undefined for anything else, e.g. `[DONE]`. */
function parsed(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

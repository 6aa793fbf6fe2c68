import { EventStreamCodec } from '@smithy/core/event-streams';
import { isObject } from '../../json/object.ts';

/** What the vendor adds to the last event for its own customers. */
const INTERNAL = 'amazon-bedrock-invocationMetrics';
/** A message says its own length in its first four bytes (AWS docs: Event stream encoding). */
const LENGTH_BYTES = 4;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : decoder.decode(bytes)),
  (text) => encoder.encode(text),
);

/**
 * An AWS event stream as server-sent events: each chunk carries one event of the model's own protocol
 * (AWS docs: InvokeModelWithResponseStream). An exception becomes that protocol's error event.
 */
export function asServerSentEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        rest = rest.byteLength === 0 ? bytes : Buffer.concat([rest, bytes]);
        for (;;) {
          const length = lengthOf(rest);
          if (length === undefined || rest.byteLength < length) return;
          controller.enqueue(encoder.encode(eventOf(rest.subarray(0, length))));
          rest = rest.subarray(length);
        }
      },
    }),
  );
}

function lengthOf(bytes: Uint8Array): number | undefined {
  if (bytes.byteLength < LENGTH_BYTES) return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (length > LENGTH_BYTES && length <= MAX_MESSAGE_BYTES) return length;
  throw new Error('an event stream with a message of no possible length');
}

/** Throws where a message's checksums are wrong. */
function eventOf(message: Uint8Array): string {
  const { headers, body } = codec.decode(message);
  const said: unknown = JSON.parse(decoder.decode(body) || '{}');
  const type = headers[':message-type']?.value;
  if (type !== 'event') {
    const name = String(headers[':exception-type']?.value ?? headers[':error-code']?.value);
    const words = isObject(said) ? said['message'] : undefined;
    return sse({
      type: 'error',
      error: { type: errorType(name), message: String(words ?? name) },
    });
  }
  const bytes = isObject(said) ? said['bytes'] : undefined;
  if (typeof bytes !== 'string') return '';
  const { [INTERNAL]: _, ...event } = JSON.parse(Buffer.from(bytes, 'base64').toString());
  return sse(event);
}

function errorType(exception: string): string {
  if (/throttling/i.test(exception)) return 'rate_limit_error';
  return /validation/i.test(exception) ? 'invalid_request_error' : 'api_error';
}

function sse(event: Readonly<Record<string, unknown>>): string {
  return `event: ${event['type'] ?? 'message'}\ndata: ${JSON.stringify(event)}\n\n`;
}

import { EventStreamCodec } from '@smithy/core/event-streams';
import { parseExact } from '../../json/exact-integers.ts';
import { isObject } from '../../json/object.ts';

/**
 * A member of the last event. Its name reveals the upstream (Bedrock), so the member is removed
 * (P5).
 */
const INTERNAL_MEMBER = 'amazon-bedrock-invocationMetrics';
/** The first four bytes of a message are its length (AWS docs: Event stream encoding). */
const LENGTH_BYTES = 4;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : decoder.decode(bytes)),
  (text) => encoder.encode(text),
);

/**
 * Converts an AWS event stream to server-sent events. Each message of the stream contains one event
 * in the model's own protocol (AWS docs: InvokeModelWithResponseStream), or an exception. An
 * exception becomes an event `error`.
 */
export function toServerSentEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let unread: Uint8Array = new Uint8Array();
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        unread = unread.byteLength === 0 ? bytes : Buffer.concat([unread, bytes]);
        for (;;) {
          const length = readLength(unread);
          if (length === undefined || unread.byteLength < length) return;
          controller.enqueue(encoder.encode(convertMessage(unread.subarray(0, length))));
          unread = unread.subarray(length);
        }
      },
    }),
  );
}

function readLength(bytes: Uint8Array): number | undefined {
  if (bytes.byteLength < LENGTH_BYTES) return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (length > LENGTH_BYTES && length <= MAX_MESSAGE_BYTES) return length;
  throw new Error('an event stream message has an invalid length');
}

/** Returns a message as a server-sent event. Throws if a checksum of the message is wrong. */
function convertMessage(message: Uint8Array): string {
  const { headers, body } = codec.decode(message);
  const payload: unknown = JSON.parse(decoder.decode(body) || '{}');
  const type = headers[':message-type']?.value;
  if (type !== 'event') {
    const name = String(headers[':exception-type']?.value ?? headers[':error-code']?.value);
    const text = isObject(payload) ? payload['message'] : undefined;
    return formatEvent({
      type: 'error',
      error: { type: errorType(name), message: String(text ?? name) },
    });
  }
  const bytes = isObject(payload) ? payload['bytes'] : undefined;
  if (typeof bytes !== 'string') return '';
  const event = parseExact(Buffer.from(bytes, 'base64').toString());
  if (!isObject(event)) return '';
  const { [INTERNAL_MEMBER]: _, ...shown } = event;
  return formatEvent(shown);
}

function errorType(exception: string): string {
  if (/throttling/i.test(exception)) return 'rate_limit_error';
  return /validation/i.test(exception) ? 'invalid_request_error' : 'api_error';
}

function formatEvent(event: Readonly<Record<string, unknown>>): string {
  return `event: ${event['type'] ?? 'message'}\ndata: ${JSON.stringify(event)}\n\n`;
}

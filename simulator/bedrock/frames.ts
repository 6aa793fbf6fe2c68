import { EventStreamCodec } from '@smithy/core/event-streams';

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : decoder.decode(bytes)),
  (text) => encoder.encode(text),
);

/** One message of an AWS event stream (AWS docs: Event stream encoding). */
export function frameOf(headers: Record<string, string>, body: object): Uint8Array {
  const named = Object.entries(headers).map(([name, value]) => [
    `:${name}`,
    { type: 'string' as const, value },
  ]);
  return codec.encode({
    headers: Object.fromEntries(named),
    body: encoder.encode(JSON.stringify(body)),
  });
}

/** One event of the model's stream, wrapped into a chunk. */
export function chunkOf(event: object): Uint8Array {
  const headers = { 'event-type': 'chunk', 'content-type': 'application/json' };
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  return frameOf({ ...headers, 'message-type': 'event' }, { bytes, p: 'abcdef' });
}

/** Converts the server-sent events of the model's stream into AWS frames. */
export function framed(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const text = new TextDecoder();
  let rest = '';
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        rest += text.decode(bytes, { stream: true });
        const whole = rest.split('\n\n');
        rest = whole.pop() ?? '';
        for (const sse_text of whole) {
          const data = /^data: (.*)$/m.exec(sse_text)?.[1];
          if (data === undefined) continue;
          const event = JSON.parse(data);
          controller.enqueue(event.type === 'error' ? exception(event.error) : chunk(event));
        }
      },
    }),
  );
}

function exception(error: { message: string }): Uint8Array {
  const headers = { 'exception-type': 'modelStreamErrorException', 'message-type': 'exception' };
  return frameOf(headers, { message: error.message });
}

/** Wraps one event into a chunk. The last event also gets the provider's metrics. */
function chunk(event: { type: string }): Uint8Array {
  if (event.type !== 'message_stop') return chunkOf(event);
  const metrics = { invocationLatency: 17, firstByteLatency: 7 };
  return chunkOf({ ...event, 'amazon-bedrock-invocationMetrics': metrics });
}

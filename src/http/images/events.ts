import type { GenerationInput } from '../../catalogue/inputs.ts';
import { streamError } from '../../inference/stream-error.ts';
import type { TaskView } from '../../inference/tasks/port.ts';
import type { PartialImage } from '../../upstreams/generation/contract.ts';
import { chatErrorEvents } from '../../upstreams/stream/error-events.ts';
import { EVENT_STREAM } from '../audio/speech-events.ts';
import type { StreamContext } from '../generation-route.ts';
import { base64Of } from './base64.ts';

type ImageInput = Extract<GenerationInput, { scene: 'image' }>;
/** The first word of the types of events (openai 7.55.0: `ImageGenStreamEvent`, `ImageEditStreamEvent`). */
export type ImageEventPrefix = 'image_generation' | 'image_edit';

/**
 * Sends an image and its previews as events (OpenAI docs: Image streaming). The response begins with
 * the first preview. If the call fails before, it throws like a call without a stream. The event of
 * the image is sent after the charge is committed (P4).
 */
export async function imageEvents(
  prefix: ImageEventPrefix,
  { create, input, ports, bytes, request_id }: StreamContext,
): Promise<Response> {
  const events = new EventBody();
  const preview = Promise.withResolvers<void>();
  const created = create((partial) => {
    events.send(partialEvent(prefix, partial, input));
    preview.resolve();
  });
  await Promise.race([preview.promise, created]);
  const endBytes = bytes.share();
  void created
    .then(async (view) => {
      const [output] = view.outputs;
      if (!output) throw new Error(`task ${view.id} has no image`);
      const b64_json = await base64Of(output, ports, view.id, bytes.countAnswer());
      events.send(completedEvent(prefix, b64_json, view, input));
    })
    .catch((error: unknown) => events.send(chatErrorEvents(streamError(error), request_id)))
    .finally(() => {
      events.end();
      endBytes();
    });
  return new Response(events.body, { headers: EVENT_STREAM });
}

/** A body of few events. After the client left, nothing is sent. */
class EventBody {
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      this.controller = controller;
    },
    cancel: () => {
      this.controller = undefined;
    },
  });

  send(event: string): void {
    this.controller?.enqueue(Buffer.from(event));
  }

  end(): void {
    this.controller?.close();
    this.controller = undefined;
  }
}

const MS_PER_S = 1_000;

function partialEvent(
  prefix: ImageEventPrefix,
  { base64, index, output_format, ...shown }: PartialImage,
  input: ImageInput,
): string {
  return event({
    type: `${prefix}.partial_image`,
    ...{ b64_json: base64, partial_image_index: index },
    created_at: Math.floor(Date.now() / MS_PER_S),
    output_format: output_format ?? input.output_format ?? 'png',
    ...settingsOf(input),
    ...shown,
  });
}

function completedEvent(
  prefix: ImageEventPrefix,
  b64_json: string,
  { created, outputs, tokens }: TaskView,
  input: ImageInput,
): string {
  const output_format = outputs[0]?.content_type?.replace('image/', '') ?? 'png';
  return event({
    ...{ type: `${prefix}.completed`, b64_json, created_at: created, output_format },
    ...settingsOf(input),
    ...(tokens ? { usage: usageOf(tokens) } : {}),
  });
}

function settingsOf({ background = 'auto', quality = 'auto', size = 'auto' }: ImageInput): object {
  return { background, quality, size };
}

function usageOf(tokens: NonNullable<TaskView['tokens']>): object {
  const { text_input, image_input, cached_input, output } = tokens;
  const text_tokens = text_input + cached_input;
  const input_tokens = text_tokens + image_input;
  return {
    ...{ input_tokens, output_tokens: output, total_tokens: input_tokens + output },
    input_tokens_details: { text_tokens, image_tokens: image_input },
  };
}

function event(value: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import { generationRoute, type InlineContext } from '../generation-route.ts';
import { imageOf, withTaskHeaders } from '../tasks/answer.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import { base64Of } from './base64.ts';
import { imageEvents } from './events.ts';
import { withResponseFormat } from './response-format.ts';

/**
 * `POST /v1/images/generations` (spec: Image generation). The response has the images. It is a task
 * instead if the client sends `async: true`, or if the model works only as a task.
 */
export function createImage(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: 'image',
    path: '/v1/images/generations',
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
    complete: withResponseFormat,
    inline: inlineImages,
    streamed: (context) => imageEvents('image_generation', context),
  });
}

/** Returns the image response. It has URLs, or Base64 if `response_format` is `b64_json`. */
export async function inlineImages(context: InlineContext): Promise<Response> {
  const { view, link, ports, response_format, bytes } = context;
  const data = await Promise.all(
    view.outputs.map(async (output) => {
      if (response_format === 'url') return imageOf(output, link);
      const { url: _, ...rest } = imageOf(output, link);
      return { b64_json: await base64Of(output, ports, view.id, bytes.countAnswer()), ...rest };
    }),
  );
  return withTaskHeaders(json({ created: view.created, data }), view);
}

import { WeirError } from '../../errors/weir-error.ts';
import type { StoredOutput } from '../../inference/tasks/port.ts';
import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import { generationRoute, type InlineContext } from '../generation-route.ts';
import { createLink, imageOf, withTaskHeaders } from '../tasks/answer.ts';
import type { GenerationPorts, GenerationRouteDeps } from '../tasks/ports.ts';

/**
 * `POST /v1/images/generations` (spec: Image generation). The response has the images, or it is a
 * task.
 */
export function createImage(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: 'image',
    path: '/v1/images/generations',
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
    inline: inlineImages,
  });
}

/** Returns the image response. It has URLs, or Base64 if `response_format` is `b64_json`. */
export async function inlineImages(context: InlineContext): Promise<Response> {
  const { view, request, ports, response_format } = context;
  const link = createLink(request, ports);
  const data = await Promise.all(
    view.outputs.map(async (output) => {
      if (response_format === 'url') return imageOf(output, link);
      const { url: _, ...rest } = imageOf(output, link);
      return { b64_json: await base64Of(output, ports), ...rest };
    }),
  );
  return withTaskHeaders(json({ created: view.created, data }), view);
}

async function base64Of({ file }: StoredOutput, ports: GenerationPorts): Promise<string> {
  const stored = file === undefined ? undefined : await ports.openFile(file);
  if (!stored) throw new WeirError('internal_error', 'The image is not available.');
  return Buffer.from(await new Response(stored.stream).arrayBuffer()).toString('base64');
}

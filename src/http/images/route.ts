import { WeirError } from '../../errors/weir-error.ts';
import type { StoredOutput } from '../../inference/tasks/port.ts';
import type { CountedBody } from '../../upstreams/transport/body-budget.ts';
import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import { generationRoute, type InlineContext } from '../generation-route.ts';
import { imageOf, withTaskHeaders } from '../tasks/answer.ts';
import type { GenerationPorts, GenerationRouteDeps } from '../tasks/ports.ts';
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

/**
 * Reads a stored image. The image is already charged. So if it cannot be read, the error tells the
 * client the id of its task.
 */
export async function base64Of(
  { file }: StoredOutput,
  ports: GenerationPorts,
  task_id: string,
  counted: CountedBody,
): Promise<string> {
  try {
    const stored = file === undefined ? undefined : await ports.openFile(file);
    if (!stored) throw new Error(`the file ${file} of task ${task_id} is missing`);
    const pieces: Uint8Array[] = [];
    for await (const piece of stored.stream) {
      counted.add(piece.byteLength);
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('base64');
  } catch (error) {
    const hint = `Send GET /v1/tasks/${task_id} for the URL of the image.`;
    const message = 'The image was created, but it cannot be read now.';
    const id = error instanceof WeirError ? error.id : 'internal_error';
    throw new WeirError(id, message, { hint, retryable: false }, error);
  }
}

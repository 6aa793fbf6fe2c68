import type { GenerationModel } from '../../catalogue/catalogue.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { withoutUndefined } from '../../json/object.ts';
import { camelCaseMembers } from '../../upstreams/translation/gemini-format.ts';
import type { ReadonlyJsonObject } from '../../upstreams/translation/reading.ts';
import { EVENT_STREAM } from '../audio/speech-events.ts';
import { MAX_INFERENCE_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import { generationRoute, type InlineContext } from '../generation-route.ts';
import { base64Of } from '../images/base64.ts';
import { withTaskHeaders } from '../tasks/answer.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import {
  checkModalities,
  inClientsNames,
  readMediaRequest,
  refuseOthers,
} from './media-request.ts';

const CONFIG = ['responseModalities', 'imageConfig', 'candidateCount', 'seed'];
const IMAGE_CONFIG = ['aspectRatio', 'imageSize'];
const NAMES = {
  ...{ prompt: 'contents', image: 'contents', image_url: 'contents' },
  ...{ n: 'generationConfig.candidateCount', seed: 'generationConfig.seed' },
  aspect_ratio: 'generationConfig.imageConfig.aspectRatio',
  resolution: 'generationConfig.imageConfig.imageSize',
};

/**
 * Makes images for `generateContent` and `streamGenerateContent` (Gemini API docs: Image
 * generation). The call is a generation like one of `POST /v1/images/generations`. Its images are in
 * the answer; a stream has them in one event.
 */
export function geminiImages(
  deps: GenerationRouteDeps,
  model: GenerationModel,
  stream: boolean,
): Handler {
  const handle = generationRoute(deps, {
    ...{ scene: 'image', path: '/v1beta/models', protocol: 'gemini' },
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
    async read(request, counted, signal) {
      const max_bytes = MAX_INFERENCE_BODY_BYTES;
      const { value: sent } = await readJsonObject(request, counted, max_bytes, signal);
      const value = imageParameters(sent, model);
      return { value, text: JSON.stringify(value) };
    },
    inline: (context) => imageAnswer(context, stream),
  });
  return async (context) => {
    try {
      return await handle(context);
    } catch (error) {
      throw inClientsNames(error, NAMES);
    }
  };
}

/** Returns the parameters of `POST /v1/images/generations` that request the same. */
function imageParameters(
  sent: ReadonlyJsonObject,
  { id, by_task }: GenerationModel,
): Record<string, unknown> {
  if (by_task) {
    throw new WeirError('invalid_request', `${id} does not return its images in the answer.`, {
      param: 'model',
      hint: 'Use POST /v1/images/generations, and poll the task.',
    });
  }
  const { text, images, config } = readMediaRequest(sent, id, CONFIG);
  checkModalities(config['responseModalities'], id, ['IMAGE', 'TEXT']);
  const shape = camelCaseMembers(config['imageConfig']);
  refuseOthers(shape, IMAGE_CONFIG, 'generationConfig.imageConfig.', id);
  return withoutUndefined({
    ...{ model: id, prompt: text, response_format: 'b64_json' },
    image: images.length > 0 ? images : undefined,
    n: config['candidateCount'],
    seed: config['seed'],
    aspect_ratio: shape['aspectRatio'],
    resolution: shape['imageSize'],
  });
}

/** Returns the images as Gemini does: each in a candidate, as inline data. */
async function imageAnswer(
  { view, ports, bytes }: InlineContext,
  stream: boolean,
): Promise<Response> {
  const candidates = await Promise.all(
    view.outputs.map(async (output, index) => {
      const data = await base64Of(output, ports, view.id, bytes.countAnswer());
      const inlineData = { mimeType: output.content_type ?? 'image/png', data };
      const content = { role: 'model', parts: [{ inlineData }] };
      return { content, finishReason: 'STOP', index };
    }),
  );
  const usage = view.tokens ? { usageMetadata: usageOf(view.tokens) } : {};
  const answer = { candidates, ...usage, modelVersion: view.model, responseId: view.id };
  const response = stream
    ? new Response(`data: ${JSON.stringify(answer)}\n\n`, { headers: EVENT_STREAM })
    : json(answer);
  return withTaskHeaders(response, view);
}

function usageOf(tokens: NonNullable<InlineContext['view']['tokens']>): object {
  const { text_input, image_input, cached_input, output } = tokens;
  const promptTokenCount = text_input + image_input + cached_input;
  return {
    ...{ promptTokenCount, candidatesTokenCount: output },
    ...(cached_input > 0 ? { cachedContentTokenCount: cached_input } : {}),
    totalTokenCount: promptTokenCount + output,
  };
}

import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { countInputTokens } from '../../inference/budget/tokens.ts';
import { refuseLargeImages } from '../../inference/requests/image-limit.ts';
import { resolveModel } from '../../inference/requests/resolve-model.ts';
import { isObject } from '../../json/object.ts';
import { MAX_INFERENCE_BODY_BYTES, readJsonObject } from '../body.ts';
import { decodePath, type Handler, json, type RequestContext } from '../endpoint.ts';
import { type InferenceRouteDeps, inferenceRoute } from '../inference-route.ts';
import { GEMINI_INSTEAD } from '../not-offered.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import { geminiImages } from './images.ts';
import { geminiSpeech } from './speech.ts';

/**
 * The required members of a body. All other members go to the upstream. If the upstream has another
 * protocol that lacks such a member, the translation of the request refuses the member by name.
 */
export const GenerateContentSchema = Type.Object({
  contents: Type.Array(
    Type.Object({
      role: Type.Optional(Type.String()),
      parts: Type.Array(Type.Object({})),
    }),
    { minItems: 1 },
  ),
});

const validate = validator(GenerateContentSchema);

/**
 * `POST /v1beta/models/{model}:generateContent`, `:streamGenerateContent?alt=sse` and
 * `:countTokens`. These routes serve clients of Google's SDK (Gemini API docs: generateContent). Models
 * of images and speech are served too. The key comes in `x-goog-api-key`.
 */
export function geminiModels(deps: GenerationRouteDeps): Handler {
  const generate = (stream: boolean) =>
    inferenceRoute(deps, {
      protocol: 'gemini',
      path: '/v1beta/models',
      family: 'gemini',
      validate: (value) => validate(value),
      prepare: async (context, body, _key, text) => ({
        body: { ...body, model: parsePath(context).model, stream },
        body_text: text,
      }),
    });
  const chat = { whole: generate(false), stream: generate(true) };
  const content =
    (stream: boolean): Handler =>
    (context) => {
      const model = deps.catalogue().find(parsePath(context).model);
      if (model?.kind === 'generation' && model.scene === 'image') {
        return geminiImages(deps, model, stream)(context);
      }
      if (model?.kind === 'direct' && model.operation === 'tts') {
        return geminiSpeech(deps, model, stream)(context);
      }
      return (stream ? chat.stream : chat.whole)(context);
    };
  const methods: Record<string, Handler> = {
    generateContent: content(false),
    streamGenerateContent: content(true),
    countTokens: countTokens(deps),
  };
  return (context) => {
    const { method } = parsePath(context);
    const handler = methods[method];
    if (handler) return handler(context);
    throw new WeirError('not_found', `The method ${method.slice(0, 40)} is not offered.`, {
      hint: GEMINI_INSTEAD[method] ?? `Use ${Object.keys(methods).join(', ')}.`,
    });
  };
}

/**
 * Returns the model id and the method of a path. The id may contain slashes. The method follows the
 * last colon.
 */
function parsePath({ params }: RequestContext): { model: string; method: string } {
  const path = decodePath(params['*'] ?? '');
  const colon = path.lastIndexOf(':');
  return {
    model: path.slice(0, colon < 0 ? undefined : colon),
    method: colon < 0 ? '' : path.slice(colon + 1),
  };
}

/**
 * Counts tokens with a local tokenizer, without a charge. The result is close to the provider's
 * count. Throws WeirError if the path names no chat model, so that a misspelled name is noticed.
 */
function countTokens(deps: InferenceRouteDeps): Handler {
  return async (context) => {
    const { request, bytes } = context;
    const key = await deps.authentication.requireKey(context, 'gemini');
    await deps.rateLimit.consume(key, context);
    const { text, value } = await readJsonObject(
      request,
      bytes.of(key.id),
      MAX_INFERENCE_BODY_BYTES,
    );
    const inner = value['generateContentRequest'];
    const body = isObject(inner) ? { ...inner } : value;
    validate(body);
    refuseLargeImages('gemini', body, text);
    const inference = deps.inference();
    const { model: name } = parsePath(context);
    resolveModel(deps.catalogue(key.organization_id), name, key, 'gemini', (model, caller) =>
      inference.isCallable(model, caller),
    );
    return json({ totalTokens: countInputTokens(body) });
  };
}

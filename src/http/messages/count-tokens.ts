import { countInputTokens } from '../../inference/budget/tokens.ts';
import { checkMessages } from '../../inference/requests/check-messages.ts';
import { refuseLargeImages } from '../../inference/requests/image-limit.ts';
import { resolveModel } from '../../inference/requests/resolve-model.ts';
import { MAX_INFERENCE_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { requireVersion } from './route.ts';

/**
 * `POST /v1/messages/count_tokens` (Anthropic docs: Token counting). Returns how many input tokens
 * a message has. Weir counts with a local tokenizer, without a charge. The result is close to the
 * provider's count.
 */
export function countMessageTokens(deps: InferenceRouteDeps): Handler {
  return async (context) => {
    const { request, bytes } = context;
    const key = await deps.authentication.requireKey(context, 'anthropic');
    await deps.rateLimit.consume(key, context);
    const { text, value } = await readJsonObject(
      request,
      bytes.of(key.id),
      MAX_INFERENCE_BODY_BYTES,
    );
    requireVersion(context);
    checkMessages({ max_tokens: 1, ...value });
    refuseLargeImages('anthropic', value, text);
    const inference = deps.inference();
    resolveModel(
      deps.catalogue(key.organization_id),
      String(value['model']),
      key,
      'anthropic',
      (model, caller) => inference.isCallable(model, caller),
    );
    return json({ input_tokens: countInputTokens(value) });
  };
}

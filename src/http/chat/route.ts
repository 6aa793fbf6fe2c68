import { validator } from '../../errors/validate.ts';
import type { Handler } from '../endpoint.ts';
import { type InferenceRouteDeps, inferenceRoute } from '../inference-route.ts';
import { ChatRequestSchema } from './schema.ts';

/** `POST /v1/chat/completions` (spec: Chat and responses). */
export function chatCompletions(deps: InferenceRouteDeps): Handler {
  return inferenceRoute(deps, {
    protocol: 'openai',
    path: '/v1/chat/completions',
    validate: validator(ChatRequestSchema),
  });
}

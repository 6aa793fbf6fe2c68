import type { DirectModel } from '../../catalogue/catalogue.ts';
import { EmbeddingsSchema } from '../../catalogue/contracts/direct.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { countTokens } from '../../inference/budget/tokens.ts';
import { resolveDirectModel } from '../../inference/requests/resolve-model.ts';
import { EMBEDDERS } from '../../upstreams/direct/protocols.ts';
import { readApiKey } from '../auth/credentials.ts';
import { MAX_INFERENCE_BODY_BYTES, readJsonObject } from '../body.ts';
import type { Handler } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

const validate = validator(EmbeddingsSchema);

/** `POST /v1/embeddings` (spec: Embeddings). */
export function embeddings(deps: InferenceRouteDeps): Handler {
  return async ({ request, uuid, server }) => {
    const key = await deps.keys.authenticate(readApiKey(request, false));
    await deps.rateLimit.consume(key);
    const { text, value } = await readJsonObject(request, MAX_INFERENCE_BODY_BYTES);
    const body = validate(value);
    const inference = deps.inference();
    const model = resolveDirectModel(
      deps.catalogue(),
      body.model,
      key,
      'embedding',
      (each, caller) => inference.isCallable(each, caller),
    );
    checkDimensions(model, body.dimensions ?? undefined);
    server?.timeout(request, 0);
    const answer = await inference.direct({
      request_id: uuid,
      key,
      model,
      body: value,
      body_text: text,
      signal: request.signal,
      protocols: EMBEDDERS,
      max_units: { input_tokens: tokensAtMost(body.input) },
      request: async (embedder, call) => {
        const counted = () => tokensCounted(body.input);
        const { body_text, input_tokens } = await embedder.embed(call, counted);
        const usage = { input_tokens: input_tokens ?? counted() };
        return { answer: body_text, usage, estimated: input_tokens === null };
      },
    });
    return new Response(answer, { headers: { 'content-type': 'application/json' } });
  };
}

/** A vector can be shortened, never lengthened; older models have one length. */
function checkDimensions(model: DirectModel, dimensions: number | undefined): void {
  const { dimensions: most, fixed_dimensions } = model.declaration;
  if (dimensions === undefined || most === undefined || dimensions === most) return;
  if (!fixed_dimensions && dimensions < most) return;
  const rule = fixed_dimensions ? `is always ${most}` : `must be at most ${most}`;
  throw new WeirError('invalid_request', `dimensions ${rule} for ${model.id}.`, {
    param: 'dimensions',
  });
}

type Input = string | string[] | number[] | number[][];

const PER_TEXT = 8;

function tokensAtMost(input: Input): number {
  return sum(input, (text) => Buffer.byteLength(text) + PER_TEXT);
}

function tokensCounted(input: Input): number {
  return sum(input, countTokens);
}

/** Tokens count as what they are. */
function sum(input: Input, ofText: (text: string) => number): number {
  if (typeof input === 'string') return ofText(input);
  return input.reduce<number>((total, each) => {
    if (typeof each === 'string') return total + ofText(each);
    return total + (typeof each === 'number' ? 1 : each.length);
  }, 0);
}

import { EmbeddingsSchema } from '../../catalogue/contracts/direct-schemas.ts';
import { validator } from '../../errors/validate.ts';
import { countTokens } from '../../inference/budget/tokens.ts';
import { estimateOf } from '../../inference/direct/direct.ts';
import { type EmbeddingInput, maxEmbeddingTokens } from '../../inference/direct/max-units.ts';
import { possible } from '../../protocols/token-usage.ts';
import { EMBEDDERS } from '../../upstreams/direct/protocols.ts';
import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import { directRoute } from '../direct-route.ts';
import type { Handler } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

const validate = validator(EmbeddingsSchema);

/** `POST /v1/embeddings` (spec: Embeddings). */
export function embeddings(deps: InferenceRouteDeps): Handler {
  return directRoute(deps, {
    path: '/v1/embeddings',
    operation: 'embedding',
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
    readBody: validate,
    async run({ body, text, inference, call: shared }) {
      const max_tokens = maxEmbeddingTokens(body.input, text);
      const answer = await inference.direct({
        ...shared,
        protocols: EMBEDDERS,
        max_units: { input_tokens: max_tokens },
        request: async (embedder, call) => {
          const counted = () => countInputTokens(body.input);
          const {
            body_text,
            input_tokens: report,
            paid_nano_usd,
          } = await embedder.embed(call, {
            counted,
            max_tokens,
          });
          const reported = possible(report);
          const usage = { input_tokens: reported ?? counted() };
          return { answer: body_text, usage, paid_nano_usd, ...estimateOf(report) };
        },
      });
      return new Response(answer, { headers: { 'content-type': 'application/json' } });
    },
  });
}

function countInputTokens(input: EmbeddingInput): number {
  return sumTokens(input, countTokens);
}

/** Sums the tokens of an input. In an input of token ids, each id counts as one token. */
function sumTokens(input: EmbeddingInput, tokensOf: (text: string) => number): number {
  if (typeof input === 'string') return tokensOf(input);
  return input.reduce<number>((total, each) => {
    if (typeof each === 'string') return total + tokensOf(each);
    return total + (typeof each === 'number' ? 1 : each.length);
  }, 0);
}

import { RerankSchema } from '../../catalogue/contracts/direct-schemas.ts';
import { validator } from '../../errors/validate.ts';
import { estimateOf } from '../../inference/direct/direct.ts';
import { searchUnits } from '../../inference/direct/max-units.ts';
import { possible } from '../../protocols/token-usage.ts';
import type { RerankResult } from '../../upstreams/direct/contract.ts';
import { RERANKERS } from '../../upstreams/direct/protocols.ts';
import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import { directRoute } from '../direct-route.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

/** The provider's default for `max_tokens_per_doc` (Cohere docs: Rerank). */
const DEFAULT_TOKENS_PER_DOC = 4_096;
const validate = validator(RerankSchema);

/**
 * `POST /v1/rerank` (Cohere docs: Rerank). Jina's API has the same fields (Jina docs: Reranker).
 */
export function rerank(deps: InferenceRouteDeps): Handler {
  return directRoute(deps, {
    path: '/v1/rerank',
    operation: 'rerank',
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
    readBody: validate,
    async run({ request_id, body, inference, model, call: shared }) {
      const { query, top_n, max_tokens_per_doc } = body;
      const documents = body.documents.map((item) => (typeof item === 'string' ? item : item.text));
      const tokens_per_doc = max_tokens_per_doc ?? DEFAULT_TOKENS_PER_DOC;
      const likely_units = searchUnits(documents, tokens_per_doc, 0);
      const max_units = searchUnits(documents, tokens_per_doc, Buffer.byteLength(query));
      const ranked = await inference.direct({
        ...shared,
        protocols: RERANKERS,
        max_units: { requests: max_units },
        request: async (reranker, call) => {
          const answer = await reranker.rerank(call, {
            query,
            documents,
            ...(top_n === undefined ? {} : { top_n: Math.min(top_n, documents.length) }),
            ...(max_tokens_per_doc === undefined ? {} : { max_tokens_per_doc }),
          });
          const { search_units: report, results } = answer;
          const requests = Math.min(possible(report) ?? likely_units, max_units);
          return { answer: { results, requests }, usage: { requests }, ...estimateOf(report) };
        },
      });
      const withDocuments = body.return_documents === true ? documents : undefined;
      return json(responseBody(ranked, model.id, request_id, withDocuments));
    },
  });
}

/** The response body, with the members that clients of Cohere and Jina read. */
function responseBody(
  { results, requests }: Pick<RerankResult, 'results'> & { requests: number },
  model: string,
  id: string,
  documents: readonly string[] | undefined,
): object {
  return {
    id,
    model,
    results: results.map(({ index, relevance_score }) => ({
      index,
      relevance_score,
      ...(documents ? { document: { text: documents[index] } } : {}),
    })),
    meta: {
      api_version: { version: '2' },
      billed_units: { search_units: requests },
    },
  };
}

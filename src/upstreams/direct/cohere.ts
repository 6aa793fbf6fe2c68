import { isObject } from '../../json/object.ts';
import { readCount } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import type { Reranker } from './contract.ts';
import { requestJson } from './json-call.ts';

/** The members of the request that Weir's own route has too. */
const NAMES = {
  ...{ query: 'query', documents: 'documents', top_n: 'top_n' },
  max_tokens_per_doc: 'max_tokens_per_doc',
};

/** `POST /v2/rerank` (Cohere docs: Rerank). */
export const cohereDirect: Reranker = {
  async rerank(call, { query, documents, top_n, max_tokens_per_doc }) {
    const headers = { authorization: `Bearer ${call.target.api_key}` };
    const body = { model: call.physical_model, query, documents, top_n, max_tokens_per_doc };
    const answer = await requestJson(call, '/v2/rerank', headers, body, NAMES);
    const found = Array.isArray(answer['results']) ? answer['results'].filter(isObject) : [];
    const results = found.map(({ index, relevance_score }) => ({
      index: Number(index),
      relevance_score: Number(relevance_score),
    }));
    const isWhole = results.every(
      ({ index, relevance_score }) =>
        documents[index] !== undefined && Number.isFinite(relevance_score),
    );
    if (results.length === 0 || !isWhole) {
      throw new RetryableUpstreamError(
        'malformed',
        'the answer has no results, or one of its results has no score or names a document that was not sent',
      );
    }
    const { meta } = answer;
    const billed = isObject(meta) ? meta['billed_units'] : undefined;
    const units = isObject(billed) ? billed['search_units'] : undefined;
    return { results, search_units: readCount(units) };
  },
};

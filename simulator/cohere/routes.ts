/** Cohere's rerank (Cohere docs: Rerank, v2). The query may contain directives (`[[sim …]]`). */
import type { Simulator } from '../exchange.ts';
import { answerDirect, type DirectWording } from '../shared/direct.ts';
import { isObject } from '../shared/json.ts';
import { ProviderError } from '../shared/protocol.ts';
import { hashText, newId } from '../shared/random.ts';

const DOCUMENTS_PER_UNIT = 100;

const refusal = (status: number, message: string, retry_after?: number) =>
  new ProviderError(status, 'error', message, null, null, retry_after);

const WORDING: DirectWording = {
  protocol: 'cohere',
  wrongKey: () => refusal(401, 'invalid api token'),
  refusal: (status, { retry_after }) =>
    refusal(
      status,
      `${status === 400 ? 'invalid request: ' : ''}the request was refused`,
      retry_after,
    ),
  missing: (model) => refusal(404, `model '${model}' not found`),
  invalid: (message) => refusal(400, message),
  body: ({ message }) => JSON.stringify({ id: newId('SIM'), message }),
  headers: (id) => ({ 'x-debug-trace-id': id }),
};

export async function cohereRoute(
  sim: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  if (path !== '/v2/rerank') return new Response(null, { status: 404 });
  const key = request.headers.get('authorization')?.slice('Bearer '.length);
  return answerDirect(sim, request, key, WORDING, async (begin) => {
    const body: unknown = await request.json();
    if (!isObject(body)) throw WORDING.invalid('invalid request: body must be an object');
    const { query, documents, top_n } = body;
    if (typeof query !== 'string') throw WORDING.invalid('invalid request: query is required');
    if (!Array.isArray(documents) || !documents.every((each) => typeof each === 'string')) {
      throw WORDING.invalid('invalid request: documents must be a list of strings');
    }
    const call = await begin(String(body['model']), query, body);
    const search_units = Math.ceil(documents.length / DOCUMENTS_PER_UNIT);
    call.prompt_tokens = search_units;
    const results = documents
      .map((text, index) => ({ index, relevance_score: relevance(query, text) }))
      .sort((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, typeof top_n === 'number' ? top_n : documents.length);
    const meta = { api_version: { version: '2' }, billed_units: { search_units } };
    return Response.json({ id: newId('SIM'), results, meta });
  });
}

/** The share of the query's words that a text contains, plus a small number from its hash. */
function relevance(query: string, text: string): number {
  const words = new Set(query.toLowerCase().match(/\w+/g) ?? []);
  const found = new Set(text.toLowerCase().match(/\w+/g) ?? []).intersection(words);
  const chance = (hashText(query + text) % 1_000) / 100_000;
  return Math.min(1, found.size / Math.max(1, words.size) + chance);
}

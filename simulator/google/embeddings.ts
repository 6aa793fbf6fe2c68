/** Gemini's embeddings (Gemini API docs: Embeddings, batchEmbedContents). */
import type { Simulator } from '../exchange.ts';
import { vector } from '../openai/direct.ts';
import { answerDirect, type DirectWording } from '../shared/direct.ts';
import { isObject } from '../shared/json.ts';
import { tokensOf } from '../shared/tokens.ts';
import { errorBody, invalid, refusal } from './chat.ts';

const DIMENSIONS = 3_072;
const MAX_TEXTS = 100;

/** The API's errors for direct calls. */
export const WORDING: DirectWording = {
  protocol: 'gemini',
  wrongKey: () => invalid('API key not valid. Please pass a valid API key.'),
  refusal: (status, { retry_after }) => refusal(status, 'The request was refused.', retry_after),
  missing: (model) => refusal(404, `models/${model} is not found for API version v1beta.`),
  invalid,
  body: errorBody,
  headers: () => ({ 'server-timing': 'gfet4t7; dur=1' }),
};

/** Returns embeddings. The first text may contain the simulator's directives (`[[sim …]]`). */
export function geminiEmbeddings(sim: Simulator, model: string, request: Request) {
  const key = request.headers.get('x-goog-api-key') ?? undefined;
  return answerDirect(sim, request, key, WORDING, async (begin) => {
    const body: unknown = await request.json();
    const requests = isObject(body) && Array.isArray(body['requests']) ? body['requests'] : [];
    if (requests.length === 0 || requests.length > MAX_TEXTS) {
      throw invalid(`BatchEmbedContentsRequest.requests: 1 to ${MAX_TEXTS} requests are allowed.`);
    }
    if (requests.some((each) => each?.model !== `models/${model}`)) {
      throw invalid('BatchEmbedContentsRequest.requests: all models must be the same.');
    }
    const texts = requests.map((each) => String(each?.content?.parts?.[0]?.text ?? ''));
    const call = await begin(model, texts[0] ?? '', body);
    call.prompt_tokens = texts.reduce((sum, text) => sum + tokensOf(text), 0);
    const embeddings = texts.map((text, index) => {
      const wanted = Number(requests[index]?.outputDimensionality ?? DIMENSIONS);
      // A shortened vector does not have length one.
      return { values: vector(text, DIMENSIONS).slice(0, wanted) };
    });
    return Response.json({ embeddings });
  });
}

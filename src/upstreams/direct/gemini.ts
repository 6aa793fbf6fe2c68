import { isObject } from '../../json/object.ts';
import { RetryableUpstreamError, type UpstreamCall } from '../contract.ts';
import type { Embedder } from './contract.ts';
import { requestJson } from './json-call.ts';
import { toBase64 } from './vectors.ts';

/** OpenAI's names of Gemini's parameters. */
const NAMES = {
  ...{ requests: 'input', content: 'input', contents: 'input' },
  ...{ output_dimensionality: 'dimensions', outputDimensionality: 'dimensions' },
};

/** The largest number of texts in one request (Gemini API docs: Embeddings, batchEmbedContents). */
const MAX_TEXTS = 100;

/**
 * Gemini's embeddings, returned in OpenAI's answer format. Weir scales each vector to length one,
 * because OpenAI's vectors have this length. Gemini's docs advise the same for vectors with reduced
 * `dimensions`.
 */
export const geminiDirect: Embedder = {
  async embed(call, { counted }) {
    const texts = textsIn(call);
    const vectors: number[][] = [];
    for (let at = 0; at < texts.length; at += MAX_TEXTS) {
      vectors.push(...(await vectorsOf(call, texts.slice(at, at + MAX_TEXTS))));
    }
    const isBase64 = call.body['encoding_format'] === 'base64';
    const data = vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: isBase64 ? toBase64(vector) : vector,
    }));
    const tokens = counted();
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    const answer = { object: 'list', data, model: call.public_model, usage };
    return { body_text: JSON.stringify(answer), input_tokens: null };
  },
};

/** The model's contract has refused token ids. */
function textsIn({ body }: UpstreamCall): string[] {
  return [body['input']].flat().map(String);
}

async function vectorsOf(call: UpstreamCall, texts: string[]): Promise<number[][]> {
  const { physical_model, body, target } = call;
  const model = `models/${physical_model}`;
  const { dimensions } = body;
  const answer = await requestJson(
    call,
    `/models/${encodeURIComponent(physical_model)}:batchEmbedContents`,
    { 'x-goog-api-key': target.api_key },
    {
      requests: texts.map((text) => ({
        model,
        content: { parts: [{ text }] },
        ...(typeof dimensions === 'number' ? { outputDimensionality: dimensions } : {}),
      })),
    },
    NAMES,
  );
  const found = Array.isArray(answer['embeddings']) ? answer['embeddings'].filter(isObject) : [];
  const vectors = found.flatMap(({ values }) => (isVector(values) ? [ofLengthOne(values)] : []));
  if (vectors.length === texts.length) return vectors;
  throw new RetryableUpstreamError(
    'malformed',
    'the number of embeddings differs from the number of texts',
  );
}

function isVector(values: unknown): values is number[] {
  return Array.isArray(values) && values.every((each) => typeof each === 'number');
}

function ofLengthOne(vector: number[]): number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

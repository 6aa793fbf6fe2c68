/** The API's direct calls: embeddings and audio (OpenAI docs: Embeddings; Audio). */
import type { Simulator } from '../exchange.ts';
import { answerDirect, type DirectWording, type StartCall } from '../shared/direct.ts';
import { isObject } from '../shared/json.ts';
import { hashText, numberAt } from '../shared/random.ts';
import { wordText } from '../shared/text.ts';
import { tokensOf } from '../shared/tokens.ts';
import { errorBody, errorFor, invalid, modelNotFound, wrongKey } from './errors.ts';
import { openaiHeaders } from './protocol.ts';

/** How many dimensions a vector has if the request does not say. */
const DIMENSIONS: Record<string, number> = {
  'text-embedding-3-large': 3_072,
  'text-embedding-3-small': 1_536,
  'text-embedding-ada-002': 1_536,
};
const USUAL_DIMENSIONS = 1_536;
/** Number of bytes of a sound file that count as one second. The real provider decodes the file. */
const BYTES_PER_S = 16_000;
const WORDS_PER_SEGMENT = 8;
const AUDIO_TOKENS_PER_S = 10;
const SECONDS_PER_SEGMENT = 4;

/** `POST /embeddings`. Directives are in the first text. */
export function embeddings(sim: Simulator, request: Request, key: string | undefined) {
  return answered(sim, request, key, async (begin) => {
    const body: unknown = await request.json();
    if (!isObject(body)) throw invalid('Invalid body.', null, null);
    const inputs = inputsIn(body['input']);
    const texts = inputs.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    const model = String(body['model']);
    const call = await begin(model, texts[0] ?? '', body);
    const native = nativeDimensions(model);
    const wanted = body['dimensions'] === undefined ? native : Number(body['dimensions']);
    if (model.includes('ada') && body['dimensions'] !== undefined) {
      throw invalid('This model does not support specifying dimensions.', null, null);
    }
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > native || body['dimensions'] === null) {
      throw invalid(`Invalid value for 'dimensions' = ${wanted}.`, 'dimensions', null);
    }
    const data = texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding:
        body['encoding_format'] === 'base64' ? base64(vector(text, wanted)) : vector(text, wanted),
    }));
    call.prompt_tokens = inputs.reduce<number>(
      (sum, each) => sum + (typeof each === 'string' ? tokensOf(each) : each.length),
      0,
    );
    const usage = { prompt_tokens: call.prompt_tokens, total_tokens: call.prompt_tokens };
    return Response.json({ object: 'list', data, model, usage });
  });
}

/** The demo's models have names such as `text-embedding-3-large-sim`. */
function nativeDimensions(model: string): number {
  const name = Object.keys(DIMENSIONS).find((each) => model.startsWith(each));
  return (name && DIMENSIONS[name]) || USUAL_DIMENSIONS;
}

function inputsIn(input: unknown): (string | number[])[] {
  if (typeof input === 'string' && input !== '') return [input];
  if (!Array.isArray(input) || input.length === 0) {
    throw invalid("'$.input' is invalid. Please check the API reference.", null, null);
  }
  return typeof input[0] === 'number' ? [input as number[]] : (input as (string | number[])[]);
}

/**
 * Returns the vector of a text, scaled to length one. The same text and number of dimensions always
 * give the same vector.
 */
export function vector(text: string, dimensions: number): number[] {
  const seed = hashText(text);
  const raw = Array.from(
    { length: dimensions },
    (_, at) => (numberAt(seed, at) % 2_001) / 1_000 - 1,
  );
  const length = Math.hypot(...raw) || 1;
  return raw.map((value) => value / length);
}

function base64(values: number[]): string {
  return Buffer.from(new Float32Array(values).buffer).toString('base64');
}

/** `POST /audio/translations` and `/audio/transcriptions`. Directives are in the prompt. */
export function audioToText(
  sim: Simulator,
  request: Request,
  key: string | undefined,
  task: 'translate' | 'transcribe',
) {
  return answered(sim, request, key, async (begin) => {
    const form = (await request.formData()) as unknown as Map<string, string | File>;
    const file = form.get('file');
    if (!(file instanceof Blob)) throw invalid('file is required', 'file', null);
    if (task === 'translate' && form.get('language')) {
      throw invalid('Unrecognized request argument supplied: language', 'language', null);
    }
    const granularities = (form as unknown as FormData).getAll('timestamp_granularities[]');
    checkGranularities(granularities, task, form.get('response_format'));
    const isByTokens = String(form.get('model')).includes('-transcribe');
    if (isByTokens) checkFormat(form.get('model'), form.get('response_format'));
    const call = await begin(
      String(form.get('model')),
      String(form.get('prompt') ?? ''),
      fieldsOf(form),
    );
    const duration = Math.max(1, file.size / BYTES_PER_S);
    const bytes = Buffer.from(await file.arrayBuffer());
    const count = Math.ceil(duration / SECONDS_PER_SEGMENT);
    const seed = hashText(bytes.toString('base64').slice(0, 4_096));
    const segments = Array.from({ length: count }, (_, id) => ({
      id,
      seek: 0,
      start: id * SECONDS_PER_SEGMENT,
      end: Math.min(duration, (id + 1) * SECONDS_PER_SEGMENT),
      text: ` ${wordText(numberAt(seed, id), WORDS_PER_SEGMENT).whole()}`,
      tokens: [50_364],
      temperature: 0,
      avg_logprob: -0.3,
      compression_ratio: 1.2,
      no_speech_prob: 0.01,
    }));
    const text = segments
      .map((each) => each.text)
      .join('')
      .trim();
    call.completion_tokens = tokensOf(text);
    if (form.get('response_format') !== 'verbose_json') {
      const audio_tokens = Math.ceil(duration * AUDIO_TOKENS_PER_S);
      const input_tokens = audio_tokens + call.prompt_tokens;
      const output_tokens = call.completion_tokens;
      const input_token_details = { audio_tokens, text_tokens: call.prompt_tokens };
      const usage = isByTokens
        ? {
            ...{ type: 'tokens', input_tokens, input_token_details, output_tokens },
            total_tokens: input_tokens + output_tokens,
          }
        : { type: 'duration', seconds: Math.ceil(duration) };
      return Response.json({ text, usage });
    }
    const hasWords = granularities.includes('word');
    return Response.json({
      ...{ task, language: 'german', duration, text },
      ...(hasWords ? { words: segments.flatMap(wordsIn) } : {}),
      ...(hasWords && !granularities.includes('segment') ? {} : { segments }),
    });
  });
}

/** The fields of a form, for the books. A file is its size in bytes. */
function fieldsOf(form: Map<string, string | File>): object {
  const fields: Record<string, unknown[]> = {};
  for (const [name, value] of form) {
    fields[name] = [...(fields[name] ?? []), typeof value === 'string' ? value : value.size];
  }
  return fields;
}

/** The rules of OpenAI's docs: Create transcription, `timestamp_granularities[]`. */
function checkGranularities(granularities: unknown[], task: string, format: unknown): void {
  if (granularities.length === 0) return;
  const name = 'timestamp_granularities[]';
  if (task === 'translate') {
    throw invalid(`Unrecognized request argument supplied: ${name}`, name, null);
  }
  if (format !== 'verbose_json') {
    throw invalid(`${name} requires response_format verbose_json.`, name, null);
  }
}

/** The refusal of openai/openai-dotnet issue 401 and vercel/ai issue 8214. */
function checkFormat(model: unknown, format: unknown): void {
  if (format === null || format === 'json' || format === 'text') return;
  const message = `response_format '${format}' is not compatible with model '${model}'. Use 'json' or 'text' instead.`;
  throw invalid(message, 'response_format', 'unsupported_value');
}

/** The words of a segment, each with an equal share of its time. */
function wordsIn({ text, start, end }: { text: string; start: number; end: number }): object[] {
  const words = text.trim().split(' ');
  const share = (end - start) / words.length;
  return words.map((word, at) => ({
    ...{ word, start: start + at * share, end: start + (at + 1) * share },
  }));
}

/** Answers a direct call with OpenAI's errors and headers. */
export function answered(
  sim: Simulator,
  request: Request,
  key: string | undefined,
  answer: (begin: StartCall) => Promise<Response>,
): Promise<Response> {
  return answerDirect(sim, request, key, OPENAI, answer);
}

const OPENAI: DirectWording = {
  protocol: 'openai',
  wrongKey,
  refusal: (status, directives) => errorFor(status, directives),
  missing: modelNotFound,
  invalid: (message) => invalid(message, null, null),
  body: errorBody,
  headers: (id) => openaiHeaders(id, 1),
};

import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { readSeconds } from '../../protocols/generation-usage.ts';
import { countIn, readUsageObject, type UsageReport } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError, type UpstreamCall } from '../contract.ts';
import { publishAnswer } from '../pass-through/publish.ts';
import { requestAnswer, send } from '../pass-through/request.ts';
import {
  parseObject,
  postOf,
  readChunks,
  readFailure,
  requestWhole,
} from '../transport/exchange.ts';
import { classifyFailure, classifyInlineError } from '../transport/failures.ts';
import { AZURE, OPENAI, type OpenaiAddress } from '../transport/openai-address.ts';
import type {
  Embedder,
  OwnCount,
  Segment,
  SpeechSynthesizer,
  Transcriber,
  Transcript,
  TranscriptionRequest,
  Word,
} from './contract.ts';
import { inEncodingFormat } from './vectors.ts';

/** Embeddings and audio of OpenAI and of compatible servers (OpenAI docs: Embeddings; Audio). */
function directProtocol(address: OpenaiAddress): Embedder & Transcriber & SpeechSynthesizer {
  return {
    embed(call, own) {
      const request = {
        path: address.path(call, '/embeddings'),
        headers: address.headers(call.target.api_key),
        edits: { model: JSON.stringify(call.physical_model), ...withoutNulls(call.body) },
      };
      return requestAnswer(call, request, (text, answer) => {
        const { data, usage } = answer;
        if (!Array.isArray(data)) {
          throw new RetryableUpstreamError('malformed', 'the answer has no embeddings');
        }
        const input_tokens = embeddedTokens(usage, own);
        const public_text = publishAnswer(text, answer, call);
        const counted = () => {
          const tokens = own.counted();
          return JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens });
        };
        return {
          body_text: inEncodingFormat(
            input_tokens === 'impossible'
              ? editMembers(public_text, { usage: counted() })
              : public_text,
            data,
            call.body['encoding_format'],
          ),
          input_tokens,
        };
      });
    },

    async transcribe(call, what) {
      const credential = address.headers(call.target.api_key);
      const path = address.path(call, `/audio/${what.task}`);
      const request = postOf(call, path, credential, formOf(call, what));
      return requestWhole(call, request, (head, text) => {
        if (!head.ok) throw classifyFailure(call, head.status, head.headers, text);
        const answer = parseObject(text);
        if (answer['error']) throw classifyInlineError(call, text);
        return readTranscript(answer);
      });
    },

    async synthesize(call) {
      const exchange = await send(call, {
        path: address.path(call, '/audio/speech'),
        headers: address.headers(call.target.api_key),
        edits: { model: JSON.stringify(call.physical_model) },
      });
      const kind = exchange.response.headers.get('content-type') ?? '';
      if (kind.startsWith('application/json')) {
        throw await readFailure(exchange, (text) => classifyInlineError(call, text));
      }
      return { pieces: readChunks(exchange) };
    },
  };
}

/** Direct calls of OpenAI and of compatible servers. */
export const openaiDirect = directProtocol(OPENAI);
/** Direct calls of Azure OpenAI, which has other paths and another header with the API key. */
export const azureDirect = directProtocol(AZURE);

/** Returns the edits that remove members without a value, which the provider refuses. */
function withoutNulls(body: UpstreamCall['body']): Record<string, null> {
  const names = Object.keys(body).filter((name) => body[name] === null);
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** Returns the reported tokens of an input. */
function embeddedTokens(usage: unknown, { max_tokens }: OwnCount): UsageReport<number> {
  const reported = readUsageObject(usage);
  if (reported === null || reported === 'impossible') return reported;
  if (typeof reported['prompt_tokens'] !== 'number') return null;
  const tokens = countIn(reported, 'prompt_tokens');
  return tokens <= 2 * max_tokens ? tokens : 'impossible';
}

/**
 * Returns the body of a transcription request. The body always requests `verbose_json`, because
 * Weir creates every output format from the segments and their times.
 */
function formOf(
  call: UpstreamCall,
  { file, prompt, temperature, language, granularities = [] }: TranscriptionRequest,
): FormData {
  const form = new FormData();
  form.set('file', file, file.name);
  form.set('model', call.physical_model);
  form.set('response_format', 'verbose_json');
  if (prompt !== undefined) form.set('prompt', prompt);
  if (temperature !== undefined) form.set('temperature', String(temperature));
  if (language !== undefined) form.set('language', language);
  for (const each of granularities) form.append('timestamp_granularities[]', each);
  return form;
}

function readTranscript(answer: Record<string, unknown>): Transcript {
  const { text, duration, language, segments, words } = answer;
  const listed = (Array.isArray(segments) ? segments.filter(isObject) : []) as unknown as Segment[];
  const timed = (Array.isArray(words) ? words.filter(isObject) : []) as unknown as Word[];
  // The duration 0 is possible, for silence. A missing or impossible duration is replaced by the
  // latest end of a segment or word.
  const reported = duration === 0 ? 0 : readSeconds(duration);
  const ends = [...listed, ...timed].map(({ end }) => readSeconds(end) ?? -1);
  const length = reported ?? ends.reduce((latest, end) => Math.max(latest, end), -1);
  if (typeof text !== 'string' || length < 0) {
    throw new RetryableUpstreamError('malformed', 'the transcript has no text or no duration');
  }
  return {
    task: answer['task'],
    language: String(language ?? ''),
    duration: length,
    ...(reported === undefined ? { has_impossible_usage: true } : {}),
    text,
    segments: listed,
    words: timed,
  };
}

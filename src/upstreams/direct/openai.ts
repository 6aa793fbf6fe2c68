import { isObject } from '../../json/object.ts';
import { readTokenCount } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError, type UpstreamCall } from '../contract.ts';
import { publishAnswer } from '../pass-through/publish.ts';
import { requestAnswer, send } from '../pass-through/request.ts';
import { parseObject, postOf, readAll, readChunks, requestWhole } from '../transport/exchange.ts';
import { classifyFailure, classifyInlineError } from '../transport/failures.ts';
import type {
  Embedder,
  Segment,
  SpeechSynthesizer,
  Transcriber,
  Transcript,
  TranscriptionRequest,
} from './contract.ts';
import { inEncodingFormat } from './vectors.ts';

type Credentials = (api_key: string) => Record<string, string>;

/** Embeddings and audio of OpenAI and of compatible servers (OpenAI docs: Embeddings; Audio). */
function directProtocol(credentials: Credentials): Embedder & Transcriber & SpeechSynthesizer {
  return {
    embed(call) {
      const request = {
        path: '/embeddings',
        headers: credentials(call.target.api_key),
        edits: { model: JSON.stringify(call.physical_model) },
      };
      return requestAnswer(call, request, (text, answer) => {
        const { data, usage } = answer;
        if (!Array.isArray(data)) {
          throw new RetryableUpstreamError('malformed', 'the answer has no embeddings');
        }
        const reported = isObject(usage) ? usage['prompt_tokens'] : undefined;
        return {
          body_text: inEncodingFormat(
            publishAnswer(text, answer, call),
            data,
            call.body['encoding_format'],
          ),
          input_tokens: typeof reported === 'number' ? readTokenCount(reported) : null,
        };
      });
    },

    async transcribe(call, what) {
      const credential = credentials(call.target.api_key);
      const path = `/audio/${what.task}`;
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
        path: '/audio/speech',
        headers: credentials(call.target.api_key),
        edits: { model: JSON.stringify(call.physical_model) },
      });
      const kind = exchange.response.headers.get('content-type') ?? '';
      if (kind.startsWith('application/json'))
        throw classifyInlineError(call, await readAll(exchange));
      return { pieces: readChunks(exchange) };
    },
  };
}

export const openaiDirect = directProtocol((key) => ({ authorization: `Bearer ${key}` }));
export const azureDirect = directProtocol((key) => ({ 'api-key': key }));

/**
 * Returns the body of a transcription request. It always asks for `verbose_json`, because Weir
 * makes every output format from the segments and their times.
 */
function formOf(
  call: UpstreamCall,
  { file, prompt, temperature, language }: TranscriptionRequest,
): FormData {
  const form = new FormData();
  form.set('file', file, file.name);
  form.set('model', call.physical_model);
  form.set('response_format', 'verbose_json');
  if (prompt !== undefined) form.set('prompt', prompt);
  if (temperature !== undefined) form.set('temperature', String(temperature));
  if (language !== undefined) form.set('language', language);
  return form;
}

function readTranscript(answer: Record<string, unknown>): Transcript {
  const { text, duration, language, segments } = answer;
  if (typeof text !== 'string' || !(Number(duration) >= 0)) {
    throw new RetryableUpstreamError('malformed', 'the transcript has no text or no duration');
  }
  return {
    task: answer['task'],
    language: String(language ?? ''),
    duration: Number(duration),
    text,
    segments: Array.isArray(segments) ? (segments.filter(isObject) as unknown as Segment[]) : [],
  };
}

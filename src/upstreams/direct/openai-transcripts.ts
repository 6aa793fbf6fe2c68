import { isObject } from '../../json/object.ts';
import { readSeconds } from '../../protocols/generation-usage.ts';
import { countIn, possible, readUsageObject } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError, TerminalUpstreamError, type UpstreamCall } from '../contract.ts';
import { parseObject, postOf, requestWhole } from '../transport/exchange.ts';
import { classifyFailure, classifyInlineError } from '../transport/failures.ts';
import type { OpenaiAddress } from '../transport/openai-address.ts';
import type {
  Segment,
  Transcript,
  TranscriptionRequest,
  TranscriptTokens,
  Word,
} from './contract.ts';

/** An audio token of OpenAI's models is 100 ms of a user's audio (OpenAI docs: Managing costs). */
const AUDIO_TOKENS_PER_S = 10;
/** Fluent speech has about 150 words a minute. */
const WORDS_PER_S = 2.5;

/**
 * Weir requests `verbose_json`, because it writes every format from the segments and their times. Some
 * models know only `json`. The catalogue says so of its own (`transcript_formats`). Others refuse the
 * format, which Weir itself chose, e.g. Voxtral on compatible servers (Vexa-ai/vexa issue 1342). They
 * are remembered here by address and name, so that only their first call is sent twice.
 */
const json_only = new Set<string>();
const MAX_REMEMBERED = 1_000;

/** Transcribes in the protocol of OpenAI (OpenAI docs: Create transcription). */
export async function transcribe(
  call: UpstreamCall,
  what: TranscriptionRequest,
  address: OpenaiAddress,
): Promise<Transcript> {
  const model = `${call.target.base_url} ${call.physical_model}`;
  const isKnown = what.gives_times === false || json_only.has(model);
  if (!isKnown) {
    const transcript = await request(call, what, address, 'verbose_json');
    if (transcript !== 'unknown format') return transcript;
  }
  refuseTimes(what);
  const transcript = await request(call, what, address, 'json');
  if (transcript !== 'unknown format') {
    if (!isKnown && json_only.size < MAX_REMEMBERED) json_only.add(model);
    return transcript;
  }
  throw new RetryableUpstreamError('malformed', 'the upstream knows neither verbose_json nor json');
}

async function request(
  call: UpstreamCall,
  what: TranscriptionRequest,
  address: OpenaiAddress,
  format: 'verbose_json' | 'json',
): Promise<Transcript | 'unknown format'> {
  const path = address.path(call, `/audio/${what.task}`);
  const headers = address.headers(call.target.api_key);
  const post = postOf(call, path, headers, formOf(call, what, format));
  return requestWhole(call, post, (head, text) => {
    if (!head.ok) {
      if (refusesFormat(text, what)) return 'unknown format';
      throw classifyFailure(call, head.status, head.headers, text);
    }
    const answer = parseObject(text);
    if (answer['error']) {
      if (refusesFormat(text, what)) return 'unknown format';
      throw classifyInlineError(call, text);
    }
    return readTranscript(answer, format);
  });
}

const FORMAT_NAMES = ['response_format', 'verbose_json'];

/**
 * True if an error names the field `response_format`, or the value that Weir chose for it. An upstream
 * may repeat the client's text in its error. So a client that sends these names proves nothing.
 */
function refusesFormat(error: string, { prompt, language, file }: TranscriptionRequest): boolean {
  const sent = `${prompt} ${language} ${file.name}`;
  return FORMAT_NAMES.some((name) => error.includes(name) && !sent.includes(name));
}

/** Throws a 400 that names the parameter, if the client wants times that the model does not give. */
function refuseTimes({ needs_times, granularities = [] }: TranscriptionRequest): void {
  if (!needs_times) return;
  const param = granularities.length > 0 ? 'timestamp_granularities[]' : 'response_format';
  const message = `${param} asks for times, and this model gives none. Use response_format json or text.`;
  throw new TerminalUpstreamError('invalid_request', message, param, 400);
}

function formOf(
  call: UpstreamCall,
  { file, prompt, temperature, language, granularities = [] }: TranscriptionRequest,
  format: 'verbose_json' | 'json',
): FormData {
  const form = new FormData();
  form.set('file', file, file.name);
  form.set('model', call.physical_model);
  form.set('response_format', format);
  if (prompt !== undefined) form.set('prompt', prompt);
  if (temperature !== undefined) form.set('temperature', String(temperature));
  if (language !== undefined) form.set('language', language);
  for (const each of granularities) form.append('timestamp_granularities[]', each);
  return form;
}

function readTranscript(
  answer: Record<string, unknown>,
  format: 'verbose_json' | 'json',
): Transcript {
  const { text, language, segments, words } = answer;
  const listed = (Array.isArray(segments) ? segments.filter(isObject) : []) as unknown as Segment[];
  const timed = (Array.isArray(words) ? words.filter(isObject) : []) as unknown as Word[];
  if (typeof text !== 'string') {
    throw new RetryableUpstreamError('malformed', 'the transcript has no text');
  }
  const tokens = tokensOf(answer['usage']);
  const reported = reportedLength(answer, tokens);
  const length = reported ?? estimatedLength([...listed, ...timed], text, format);
  if (length === undefined) {
    throw new RetryableUpstreamError('malformed', 'the transcript has no duration');
  }
  return {
    task: answer['task'],
    language: String(language ?? ''),
    duration: length,
    ...(reported === undefined ? { has_impossible_usage: true } : {}),
    text,
    segments: listed,
    words: timed,
    ...(tokens ? { tokens } : {}),
  };
}

/** The length of the audio as the upstream reports it, seconds. 0 is possible, for silence. */
function reportedLength(
  { duration, usage }: Record<string, unknown>,
  tokens: TranscriptTokens | undefined,
): number | undefined {
  const seconds = duration ?? (isObject(usage) ? usage['seconds'] : undefined);
  if (seconds === 0) return 0;
  const audio_tokens = tokens?.input_token_details?.audio_tokens;
  return readSeconds(seconds) ?? (audio_tokens ? audio_tokens / AUDIO_TOKENS_PER_S : undefined);
}

/**
 * The latest end of a segment or word. Without any, and if the format has no length, the time in which
 * somebody speaks the text. Undefined if nothing gives a length.
 */
function estimatedLength(
  parts: readonly { readonly end: number }[],
  text: string,
  format: 'verbose_json' | 'json',
): number | undefined {
  const ends = parts.map(({ end }) => readSeconds(end) ?? -1);
  const latest = Math.max(-1, ...ends);
  if (latest >= 0) return latest;
  if (format !== 'json') return undefined;
  return text.split(/\s+/).filter(Boolean).length / WORDS_PER_S;
}

function tokensOf(usage: unknown): TranscriptTokens | undefined {
  const report = possible(readUsageObject(usage));
  if (!report || typeof report['input_tokens'] !== 'number') return undefined;
  const [input_tokens, output_tokens] = [
    countIn(report, 'input_tokens'),
    countIn(report, 'output_tokens'),
  ];
  const details = report['input_token_details'];
  const audio_tokens = countIn(details, 'audio_tokens');
  const text_tokens = countIn(details, 'text_tokens');
  return {
    ...{ input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
    ...(isObject(details) ? { input_token_details: { audio_tokens, text_tokens } } : {}),
  };
}

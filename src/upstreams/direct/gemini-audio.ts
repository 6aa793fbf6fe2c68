import { isObject } from '../../json/object.ts';
import { geminiUsage } from '../../protocols/gemini-usage.ts';
import { readSeconds } from '../../protocols/generation-usage.ts';
import { possible, readCount, type UsageReport } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError, TerminalUpstreamError, type UpstreamCall } from '../contract.ts';
import { parseObject } from '../transport/exchange.ts';
import type {
  Segment,
  SpeechSynthesizer,
  SpeechUsage,
  Transcriber,
  Transcript,
  TranscriptionRequest,
  Word,
} from './contract.ts';
import { type ClientNames, requestJson } from './json-call.ts';

/** Tokens of one second of audio (Gemini API docs: Audio understanding). */
const TOKENS_PER_S = 32;
/**
 * Largest audio file that Weir sends inline, in bytes before Base64 (Gemini API docs: Audio
 * understanding).
 */
const MAX_INLINE_BYTES = 14 * 1024 * 1024;
/**
 * Sample rate of the generated speech. The speech is 16 bit, mono (Gemini API docs: Speech
 * generation).
 */
const RATE_HZ = 24_000;
const PIECE_BYTES = 64 * 1024;

/** MIME types by file extension (Gemini API docs: Audio understanding). */
const MIME_TYPES: Record<string, string> = {
  mp3: 'audio/mp3',
  mpga: 'audio/mp3',
  mpeg: 'audio/mp3',
  m4a: 'audio/m4a',
  mp4: 'audio/mp4',
};

/** OpenAI's names of Gemini's parameters, for transcripts and for speech. */
const TRANSCRIPTION_NAMES = { contents: 'file', temperature: 'temperature' };
const SPEECH_NAMES = {
  ...{ contents: 'input', voice_name: 'voice', voiceName: 'voice' },
  ...{ speech_config: 'voice', speechConfig: 'voice' },
};

/**
 * The member of a body with Gemini's own `speechConfig`, e.g. with several speakers. Only clients of
 * Gemini's route send it, so it has no name of OpenAI's.
 */
export const SPEECH_CONFIG = 'speechConfig';

const TIMES = {
  start: { type: 'NUMBER', description: 'Seconds.' },
  end: { type: 'NUMBER', description: 'Seconds.' },
};

/** Returns a JSON schema of a list of parts of the audio, each with its text in the member `name`. */
const timedList = (name: string) => ({
  type: 'ARRAY',
  items: {
    type: 'OBJECT',
    properties: { ...TIMES, [name]: { type: 'STRING' } },
    required: ['start', 'end', name],
  },
});

/** Returns the JSON schema of the transcript that Weir requests from Gemini. */
function transcriptSchema({ granularities = [] }: TranscriptionRequest): object {
  const hasWords = granularities.includes('word');
  return {
    type: 'OBJECT',
    properties: {
      language: { type: 'STRING', description: 'What is spoken, e.g. german.' },
      segments: timedList('text'),
      ...(hasWords ? { words: timedList('word') } : {}),
    },
    required: ['language', 'segments', ...(hasWords ? ['words'] : [])],
  };
}

/**
 * Transcription and speech through generateContent. The calls have the parameters of OpenAI's audio
 * routes.
 */
export const geminiAudio: Transcriber & SpeechSynthesizer = {
  async transcribe(call, what) {
    if (what.file.size > MAX_INLINE_BYTES) {
      throw new TerminalUpstreamError(
        'payload_too_large',
        'file must be at most 14 MB for this model.',
        'file',
        413,
      );
    }
    const body = {
      contents: [{ role: 'user', parts: [{ text: taskOf(what) }, await inlineAudio(what.file)] }],
      generationConfig: {
        responseMimeType: 'application/json',
        responseSchema: transcriptSchema(what),
        ...(what.temperature === undefined ? {} : { temperature: what.temperature }),
      },
    };
    const answer = await generate(call, body, TRANSCRIPTION_NAMES);
    return readTranscript(answer);
  },

  async synthesize(call) {
    const { body } = call;
    const request = {
      contents: [{ role: 'user', parts: [{ text: scriptOf(body) }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        maxOutputTokens: call.model_max_output_tokens,
        speechConfig: body[SPEECH_CONFIG] ?? {
          voiceConfig: { prebuiltVoiceConfig: { voiceName: voiceOf(body['voice']) } },
        },
      },
    };
    const answer = await generate(call, request, SPEECH_NAMES);
    const sound = readAudio(answer);
    const usage = speechUsage(geminiUsage(answer['usageMetadata']));
    return {
      pieces: piecesOf(
        body['response_format'] === 'wav' ? [wavHeader(sound.byteLength), sound] : [sound],
      ),
      usage: () => usage,
    };
  },
};

/**
 * Sends the request and returns the answer. Throws TerminalUpstreamError if Gemini's content policy
 * blocked the prompt.
 */
async function generate(
  call: UpstreamCall,
  body: object,
  names: ClientNames,
): Promise<Record<string, unknown>> {
  const path = `/models/${encodeURIComponent(call.physical_model)}:generateContent`;
  const headers = { 'x-goog-api-key': call.target.api_key };
  const answer = await requestJson(call, path, headers, body, names);
  const feedback = answer['promptFeedback'];
  if (isObject(feedback) && feedback['blockReason'] !== undefined) {
    throw new TerminalUpstreamError(
      'content_policy_violation',
      'The request was refused by the content policy of the model.',
      null,
      400,
    );
  }
  return answer;
}

function taskOf({ task, prompt, language }: TranscriptionRequest): string {
  const order =
    task === 'translations'
      ? 'Write down in English what is said, translated faithfully.'
      : 'Write down what is said, word for word, in the language that is spoken.';
  return [
    order,
    'Begin a new segment with each sentence.',
    ...(language === undefined ? [] : [`The language is ${language}.`]),
    ...(prompt === undefined ? [] : [`It continues, or is about: ${prompt}`]),
  ].join(' ');
}

async function inlineAudio(file: File): Promise<object> {
  const ending = file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase();
  const data = Buffer.from(await file.arrayBuffer()).toString('base64');
  return { inlineData: { mimeType: MIME_TYPES[ending] ?? `audio/${ending}`, data } };
}

function readTranscript(answer: Record<string, unknown>): Transcript {
  const transcript = jsonIn(answer);
  const listed = Array.isArray(transcript['segments']) ? transcript['segments'] : [];
  const segments = listed.filter(isObject).map(
    ({ start, end, text }, id): Segment => ({
      ...{ id, start: seconds(start), end: seconds(end), text: String(text ?? '') },
    }),
  );
  return {
    text: segments.map(({ text }) => text.trim()).join(' '),
    language: String(transcript['language'] ?? ''),
    duration: durationOf(answer, segments),
    segments,
    words: wordsIn(transcript),
  };
}

function wordsIn(transcript: Record<string, unknown>): Word[] {
  const listed = Array.isArray(transcript['words']) ? transcript['words'].filter(isObject) : [];
  return listed.map(({ word, start, end }) => ({
    ...{ word: String(word ?? ''), start: seconds(start), end: seconds(end) },
  }));
}

/**
 * Parses the answer's text, without thoughts, as JSON. Throws RetryableUpstreamError if it is not
 * JSON, e.g. because it was cut off.
 */
function jsonIn(answer: Record<string, unknown>): Record<string, unknown> {
  const parts = partsOf(answer).filter(({ thought }) => thought !== true);
  return parseObject(parts.map(({ text }) => (typeof text === 'string' ? text : '')).join(''));
}

function seconds(value: unknown): number {
  return readSeconds(value) ?? 0;
}

/**
 * Returns the duration of the audio in seconds, computed from the number of audio tokens. If Gemini
 * did not report this number, returns the latest end of a segment.
 */
function durationOf(answer: Record<string, unknown>, segments: readonly Segment[]): number {
  const usage = answer['usageMetadata'];
  const details = isObject(usage) ? usage['promptTokensDetails'] : undefined;
  const sound = (Array.isArray(details) ? details : [])
    .filter(isObject)
    .find(({ modality }) => modality === 'AUDIO');
  const tokens = possible(readCount(sound?.['tokenCount']));
  if (tokens) return tokens / TOKENS_PER_S;
  return Math.max(0, ...segments.map(({ end }) => end));
}

function partsOf(answer: Record<string, unknown>): Record<string, unknown>[] {
  const [candidate] = Array.isArray(answer['candidates']) ? answer['candidates'] : [];
  const content = isObject(candidate) ? candidate['content'] : undefined;
  const parts = isObject(content) ? content['parts'] : undefined;
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

/**
 * Returns the prompt: the style instructions, if any, and then the text to speak (Gemini API docs:
 * Speech generation, prompting).
 */
function scriptOf({ input, instructions }: UpstreamCall['body']): string {
  return instructions === undefined ? String(input) : `${instructions}: ${input}`;
}

function voiceOf(voice: unknown): string {
  return String(isObject(voice) ? voice['id'] : voice);
}

function readAudio(answer: Record<string, unknown>): Buffer {
  const parts = partsOf(answer).flatMap(({ inlineData }) => {
    const data = isObject(inlineData) ? inlineData['data'] : undefined;
    return typeof data === 'string' ? [Buffer.from(data, 'base64')] : [];
  });
  const sound = Buffer.concat(parts);
  if (sound.byteLength > 0) return sound;
  throw new RetryableUpstreamError('malformed', 'the answer has no audio');
}

function speechUsage(report: UsageReport): UsageReport<SpeechUsage> {
  if (report === null || report === 'impossible') return report;
  const { input_tokens, cached_input_tokens, output_tokens } = report;
  return { input_tokens: input_tokens + cached_input_tokens, output_tokens };
}

async function* piecesOf(buffers: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.byteLength; at += PIECE_BYTES) {
      yield buffer.subarray(at, at + PIECE_BYTES);
    }
  }
}

/** The 44-byte header of a WAV file (Microsoft: Multimedia Programming Interface, RIFF WAVE). */
function wavHeader(bytes: number): Buffer {
  const [header, format_bytes, pcm, channels, sample_bytes] = [Buffer.alloc(44), 16, 1, 1, 2];
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(format_bytes, 16);
  header.writeUInt16LE(pcm, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(RATE_HZ, 24);
  header.writeUInt32LE(RATE_HZ * sample_bytes, 28);
  header.writeUInt16LE(sample_bytes, 32);
  header.writeUInt16LE(sample_bytes * 8, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}

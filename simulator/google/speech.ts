/** Gemini's speech (Gemini API docs: Speech generation). */
import type { Simulator } from '../exchange.ts';
import { answerDirect } from '../shared/direct.ts';
import { isObject } from '../shared/json.ts';
import { hashText, numberAt } from '../shared/random.ts';
import { tokensOf } from '../shared/tokens.ts';
import { invalid } from './chat.ts';
import { WORDING } from './embeddings.ts';

const RATE_HZ = 24_000;
const TOKENS_PER_S = 25;
/** The tone has this many samples for each token of the text. */
const SAMPLES_PER_TOKEN = 2_400;
const SPEAKERS = 2;
const VOICES = ['Zephyr', 'Puck', 'Charon', 'Kore', 'Fenrir', 'Leda', 'Orus', 'Aoede'];

/**
 * Returns speech as 16-bit PCM. The same text always gets the same sound. The text may contain the
 * simulator's directives (`[[sim …]]`).
 */
export function geminiSpeech(sim: Simulator, model: string, request: Request) {
  const key = request.headers.get('x-goog-api-key') ?? undefined;
  return answerDirect(sim, request, key, WORDING, async (begin) => {
    const body: unknown = await request.json();
    const { contents, generationConfig: config } = isObject(body) ? body : {};
    const text = Array.isArray(contents) ? String(contents[0]?.parts?.[0]?.text ?? '') : '';
    if (text === '') throw invalid('* GenerateContentRequest.contents: contents is not specified');
    const wanted = String((isObject(config) && config['responseModalities']) || 'TEXT');
    if (!isObject(config) || wanted !== 'AUDIO') {
      throw invalid(
        `The requested combination of response modalities (${wanted}) is not supported.`,
      );
    }
    for (const voice of voicesIn(config['speechConfig'])) {
      if (!VOICES.includes(voice)) throw invalid(`Voice name ${voice} is not supported.`);
    }
    const call = await begin(model, text, body);
    call.prompt_tokens = tokensOf(text);
    const sound = pcm(text, call.prompt_tokens * SAMPLES_PER_TOKEN);
    const tokens = Math.ceil((sound.length / RATE_HZ) * TOKENS_PER_S);
    call.completion_tokens = tokens;
    const inlineData = {
      mimeType: `audio/L16;codec=pcm;rate=${RATE_HZ}`,
      data: Buffer.from(sound.buffer).toString('base64'),
    };
    return Response.json({
      candidates: [
        { content: { role: 'model', parts: [{ inlineData }] }, finishReason: 'STOP', index: 0 },
      ],
      usageMetadata: {
        promptTokenCount: call.prompt_tokens,
        candidatesTokenCount: tokens,
        totalTokenCount: call.prompt_tokens + tokens,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: call.prompt_tokens }],
        candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: tokens }],
      },
      modelVersion: model,
      responseId: call.id,
    });
  });
}

/** The voice, or the voices of all speakers (Gemini API docs: Multi-speaker text-to-speech). */
function voicesIn(speech: unknown): string[] {
  const several = isObject(speech) ? speech['multiSpeakerVoiceConfig'] : undefined;
  const speakers = isObject(several) ? several['speakerVoiceConfigs'] : undefined;
  if (!Array.isArray(speakers)) return [voiceIn(speech)];
  if (speakers.length !== SPEAKERS) throw invalid(`multiSpeakerVoiceConfig needs 2 speakers.`);
  return speakers.map(voiceIn);
}

function voiceIn(speech: unknown): string {
  const voice = isObject(speech) ? speech['voiceConfig'] : undefined;
  const built = isObject(voice) ? voice['prebuiltVoiceConfig'] : undefined;
  return isObject(built) ? String(built['voiceName']) : '';
}

/** A tone whose frequency depends on the text. */
function pcm(text: string, samples: number): Int16Array {
  const hertz = 220 + (numberAt(hashText(text), 1) % 440);
  return Int16Array.from({ length: samples }, (_, at) =>
    Math.round(Math.sin((2 * Math.PI * hertz * at) / RATE_HZ) * 8_000),
  );
}

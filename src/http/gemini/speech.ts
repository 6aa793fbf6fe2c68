import type { DirectModel } from '../../catalogue/catalogue.ts';
import { SpeechSchema } from '../../catalogue/contracts/direct-schemas.ts';
import type { DirectUsage } from '../../catalogue/direct-price.ts';
import { validator } from '../../errors/validate.ts';
import { possible } from '../../protocols/token-usage.ts';
import type { SpeechSynthesizer } from '../../upstreams/direct/contract.ts';
import { geminiAudio, SPEECH_CONFIG } from '../../upstreams/direct/gemini-audio.ts';
import { SYNTHESIZERS } from '../../upstreams/direct/protocols.ts';
import { geminiErrorEvent } from '../../upstreams/stream/error-events.ts';
import { camelCaseMembers } from '../../upstreams/translation/gemini-format.ts';
import type { ReadonlyJsonObject } from '../../upstreams/translation/reading.ts';
import { speechUnits } from '../audio/speech.ts';
import {
  EVENT_STREAM,
  inBase64,
  type SpeechEventWriter,
  speechEvents,
} from '../audio/speech-events.ts';
import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import { directRoute } from '../direct-route.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { checkModalities, inClientsNames, notTaken, readMediaRequest } from './media-request.ts';

const SPEECH = 'generationConfig.speechConfig';
const VOICE = `${SPEECH}.voiceConfig.prebuiltVoiceConfig.voiceName`;
const NAMES = { input: 'contents', voice: VOICE };
/** Samples of 16 bits, as Gemini returns them (Gemini API docs: Speech generation). */
const MIME_TYPE = 'audio/L16;codec=pcm;rate=24000';

const validate = validator(SpeechSchema);

/**
 * Makes speech for `generateContent` and `streamGenerateContent` (Gemini API docs: Speech
 * generation). The call is a direct call like one of `POST /v1/audio/speech`.
 */
export function geminiSpeech(
  deps: InferenceRouteDeps,
  model: DirectModel,
  stream: boolean,
): Handler {
  // This handler serves one request.
  let own_config: ReadonlyJsonObject | undefined;
  const handle = directRoute(deps, {
    ...{ path: '/v1beta/models', operation: 'tts', protocol: 'gemini', family: 'gemini' },
    ...{ max_body_bytes: MAX_INFERENCE_BODY_BYTES, isTranslated: true },
    readBody(sent) {
      const { text, config } = readSpeech(sent, model);
      own_config = config.own;
      return validate({
        model: model.id,
        input: text,
        voice: config.voice,
        response_format: 'pcm',
      });
    },
    async run({ request_id, body, inference, call, recorder }) {
      const own = own_config ? { [SPEECH_CONFIG]: own_config } : {};
      const speech = {
        ...{ ...call, body: { ...call.body, ...own } },
        protocols: own_config ? { gemini: geminiAudio } : SYNTHESIZERS,
        max_units: speechUnits({ ...body, instructions: JSON.stringify(own) }, model),
      };
      const names = { modelVersion: model.id, responseId: request_id };
      if (stream) {
        const streamed = await inference.speech(speech);
        const events = speechEvents(streamed, geminiEvents(names, model));
        return new Response(recorder ? recorder.copy(events) : events, { headers: EVENT_STREAM });
      }
      const counted = call.bytes.countAnswer();
      const { data, charged } = await inference.direct({
        ...speech,
        request: async (synthesizer: SpeechSynthesizer, upstream) => {
          const { pieces, usage } = await synthesizer.synthesize(upstream);
          const read: Uint8Array[] = [];
          for await (const piece of pieces) {
            counted.add(piece.byteLength);
            read.push(piece);
          }
          const report = usage();
          const charged = possible(report) ?? speech.max_units;
          return {
            answer: { data: inBase64(Buffer.concat(read)), charged },
            ...{ usage: charged, estimated: possible(report) === null && isByTokens(model) },
            has_impossible_usage: report === 'impossible',
          };
        },
      });
      const parts = [{ inlineData: { mimeType: MIME_TYPE, data } }];
      return json(answerOf({ parts, finishReason: 'STOP' }, names, usageOf(model, charged)));
    },
  });
  return async (context) => {
    try {
      return await handle(context);
    } catch (error) {
      throw inClientsNames(error, NAMES);
    }
  };
}

interface SpeechConfig {
  readonly voice: unknown;
  /** The whole `speechConfig`, if only Gemini can express it, e.g. several speakers. */
  readonly own: ReadonlyJsonObject | undefined;
}

function readSpeech(
  sent: ReadonlyJsonObject,
  { id, declaration }: DirectModel,
): { text: string; config: SpeechConfig } {
  const known = ['responseModalities', 'speechConfig'];
  const { text, images, config } = readMediaRequest(sent, id, known);
  if (images.length > 0) throw notTaken(id, 'contents.parts.inlineData');
  checkModalities(config['responseModalities'], id, ['AUDIO']);
  const speech = camelCaseMembers(config['speechConfig']);
  const { voiceConfig, ...others } = speech;
  const voice = voiceIn(voiceConfig) ?? firstSpeakerIn(speech['multiSpeakerVoiceConfig']);
  const [other] = Object.keys(others).filter((name) => others[name] !== null);
  if (other === undefined) return { text, config: { voice, own: undefined } };
  if (declaration.family !== 'gemini-speech') throw notTaken(id, `${SPEECH}.${other}`);
  return { text, config: { voice, own: speech } };
}

function voiceIn(config: unknown): unknown {
  return camelCaseMembers(camelCaseMembers(config)['prebuiltVoiceConfig'])['voiceName'];
}

function firstSpeakerIn(config: unknown): unknown {
  const speakers = camelCaseMembers(config)['speakerVoiceConfigs'];
  return Array.isArray(speakers)
    ? voiceIn(camelCaseMembers(speakers[0])['voiceConfig'])
    : undefined;
}

function geminiEvents(names: AnswerNames, model: DirectModel): SpeechEventWriter {
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  return {
    piece: (sound) => {
      const data = inBase64(sound);
      return event(answerOf({ parts: [{ inlineData: { mimeType: MIME_TYPE, data } }] }, names));
    },
    end: (charged) => {
      // Google's SDKs treat content without parts as invalid.
      const last = { parts: [{ text: '' }], finishReason: 'STOP' };
      return event(answerOf(last, names, usageOf(model, charged)));
    },
    error: (error) => geminiErrorEvent(error, names.responseId),
  };
}

interface AnswerNames {
  readonly modelVersion: string;
  readonly responseId: string;
}

function answerOf(
  { parts, ...reason }: { readonly parts: readonly object[]; readonly finishReason?: string },
  names: AnswerNames,
  usage: object = {},
): object {
  const candidate = { content: { role: 'model', parts }, ...reason, index: 0 };
  return { candidates: [candidate], ...usage, ...names };
}

/** True if the model's price is per token. */
function isByTokens({ price }: DirectModel): boolean {
  return price.some((each) => each?.unit === 'output_tokens');
}

/** Returns the tokens that are charged; nothing for a model that is charged by characters. */
function usageOf(model: DirectModel, { input_tokens = 0, output_tokens = 0 }: DirectUsage): object {
  if (!isByTokens(model)) return {};
  return {
    usageMetadata: {
      ...{ promptTokenCount: input_tokens, candidatesTokenCount: output_tokens },
      totalTokenCount: input_tokens + output_tokens,
    },
  };
}

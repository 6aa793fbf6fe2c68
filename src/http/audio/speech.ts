import type { Static } from '@sinclair/typebox';
import type { DirectModel } from '../../catalogue/catalogue.ts';
import { SPEECH_TYPES, SpeechSchema } from '../../catalogue/contracts/direct-schemas.ts';
import type { DirectUsage } from '../../catalogue/direct-price.ts';
import { validator } from '../../errors/validate.ts';
import { SYNTHESIZERS } from '../../upstreams/direct/protocols.ts';
import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import { directRoute } from '../direct-route.ts';
import type { Handler } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { EVENT_STREAM, openaiSpeechEvents, speechEvents } from './speech-events.ts';

/** The most tokens that the provider adds around the text. */
const FRAME_TOKENS = 64;

/** Returns the most units that a provider can bill for the speech. */
export function speechUnits(
  { input, instructions = '' }: Pick<Static<typeof SpeechSchema>, 'input' | 'instructions'>,
  { max_output_tokens }: DirectModel,
): DirectUsage {
  return {
    // The provider counts code points.
    characters: [...input].length,
    // A token has at least one byte. So there are at most as many tokens as bytes.
    input_tokens: Buffer.byteLength(input + instructions) + FRAME_TOKENS,
    output_tokens: max_output_tokens,
  };
}

const validate = validator(SpeechSchema);

/** `POST /v1/audio/speech` (OpenAI docs: Create speech). The sound is streamed to the client. */
export function speech(deps: InferenceRouteDeps): Handler {
  return directRoute(deps, {
    path: '/v1/audio/speech',
    operation: 'tts',
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
    readBody: validate,
    async run({ request_id, body, inference, model, call, recorder }) {
      const speech = await inference.speech({
        ...call,
        protocols: SYNTHESIZERS,
        max_units: speechUnits(body, model),
      });
      const [sent, headers] =
        body.stream_format === 'sse'
          ? [speechEvents(speech, openaiSpeechEvents(request_id)), EVENT_STREAM]
          : [speech.sound, { 'content-type': SPEECH_TYPES[body.response_format ?? 'mp3'] }];
      return new Response(recorder ? recorder.copy(sent) : sent, { headers });
    },
  });
}

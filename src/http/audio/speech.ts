import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { SPEAKERS } from '../../upstreams/direct/protocols.ts';
import { MAX_INFERENCE_BODY_BYTES, readJsonObject } from '../body.ts';
import type { Handler } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { resolveDirectModel } from '../resolve-model.ts';

/** What each format is called in HTTP (OpenAI docs: Create speech). */
const CONTENT_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const;
type Format = keyof typeof CONTENT_TYPES;
const FORMATS = Object.keys(CONTENT_TYPES) as Format[];
const MAX_INPUT_CHARS = 4_096;
const FRAME_TOKENS = 64;

/** `POST /v1/audio/speech` (OpenAI docs: Create speech). */
const SpeechSchema = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200 }),
  input: Type.String({ minLength: 1, maxLength: MAX_INPUT_CHARS }),
  voice: Type.Union(
    [Type.String({ minLength: 1 }), Type.Object({ id: Type.String({ minLength: 1 }) })],
    { errorMessage: 'must be the name of a voice, or an object with its id' },
  ),
  instructions: Type.Optional(Type.String({ maxLength: MAX_INPUT_CHARS })),
  response_format: Type.Optional(
    Type.Union(
      FORMATS.map((format) => Type.Literal(format)),
      { errorMessage: `must be one of ${FORMATS.join(', ')}` },
    ),
  ),
  speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })),
  stream_format: Type.Optional(Type.String()),
});

const validate = validator(SpeechSchema);

/** Text into sound, sent on as it comes. */
export function speech(deps: InferenceRouteDeps): Handler {
  return async ({ request, uuid, server }) => {
    const key = await deps.keys.authenticate(request, false);
    await deps.rateLimit.consume(key);
    const { text, value } = await readJsonObject(request, MAX_INFERENCE_BODY_BYTES);
    const body = validate(value);
    if (body.stream_format !== undefined && body.stream_format !== 'audio') {
      throw new WeirError('invalid_request', 'stream_format must be audio.', {
        param: 'stream_format',
      });
    }
    const inference = deps.inference();
    const model = resolveDirectModel(deps.catalogue(), body.model, key, 'tts', (each, caller) =>
      inference.isCallable(each, caller),
    );
    server?.timeout(request, 0);
    const sound = await inference.speech({
      ...{ request_id: uuid, key, model, body: value, body_text: text, signal: request.signal },
      protocols: SPEAKERS,
      most: {
        // Code points: what the provider counts.
        characters: [...body.input].length,
        // No token is shorter than a byte; a few frame the text.
        input_tokens: Buffer.byteLength(body.input + (body.instructions ?? '')) + FRAME_TOKENS,
        output_tokens: model.max_output_tokens,
      },
    });
    const type = CONTENT_TYPES[body.response_format ?? 'mp3'];
    return new Response(sound, { headers: { 'content-type': type } });
  };
}

import { SPEECH_TYPES, SpeechSchema } from '../../catalogue/contracts/direct-schemas.ts';
import { validator } from '../../errors/validate.ts';
import { resolveDirectModel } from '../../inference/requests/resolve-model.ts';
import { SYNTHESIZERS } from '../../upstreams/direct/protocols.ts';
import { MAX_INFERENCE_BODY_BYTES, readJsonObject } from '../body.ts';
import { callSignal } from '../call-signal.ts';
import type { Handler } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { serveOnce } from '../serve-once.ts';

/** The most tokens that the provider adds around the text. */
const FRAME_TOKENS = 64;

const validate = validator(SpeechSchema);

/** `POST /v1/audio/speech` (OpenAI docs: Create speech). The sound is streamed to the client. */
export function speech(deps: InferenceRouteDeps): Handler {
  return async (context) => {
    const { request, uuid, server, bytes } = context;
    const key = await deps.authentication.requireKey(context, false);
    await deps.rateLimit.consume(key);
    const signal = callSignal(context, key);
    const { text, value } = await readJsonObject(
      request,
      bytes.of(key.id),
      MAX_INFERENCE_BODY_BYTES,
      signal,
    );
    const body = validate(value);
    const paid = { key, route: '/v1/audio/speech', body: text, signal };
    return serveOnce(deps, context, paid, async ({ signal: call_signal, recorder }) => {
      const inference = deps.inference();
      const model = resolveDirectModel(
        deps.catalogue(),
        body.model,
        key,
        'tts',
        (candidate, caller) => inference.isCallable(candidate, caller),
      );
      model.contract.check(value);
      server?.timeout(request, 0);
      const sound = await inference.speech({
        ...{
          request_id: uuid,
          key,
          model,
          body: value,
          body_text: text,
          signal: call_signal,
          bytes,
        },
        protocols: SYNTHESIZERS,
        max_units: {
          // The provider counts code points.
          characters: [...body.input].length,
          // A token has at least one byte. So there are at most as many tokens as bytes.
          input_tokens: Buffer.byteLength(body.input + (body.instructions ?? '')) + FRAME_TOKENS,
          output_tokens: model.max_output_tokens,
        },
      });
      const type = SPEECH_TYPES[body.response_format ?? 'mp3'];
      return new Response(recorder ? recorder.copy(sound) : sound, {
        headers: { 'content-type': type },
      });
    });
  };
}

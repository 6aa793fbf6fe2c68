/** OpenAI's speech (OpenAI docs: Create speech). */
import type { Simulator } from '../exchange.ts';
import { type Directives, directivesIn } from '../shared/directives.ts';
import { isObject } from '../shared/json.ts';
import { tokensOf } from '../shared/tokens.ts';
import { disconnectsWithin } from '../shared/waiting.ts';
import { mediaOf } from '../tasks/media.ts';
import { answered } from './direct.ts';
import { invalid } from './errors.ts';

const PIECE_BYTES = 1_024;
/** Events are smaller, so that a short sound has many. */
const EVENT_BYTES = 256;
/** The provider counts tokens of sound. The simulator's sounds have one token for so many bytes. */
const BYTES_PER_TOKEN = 64;

/** `POST /audio/speech`. Directives are in the text to speak. */
export function speech(sim: Simulator, request: Request, key: string | undefined) {
  return answered(sim, request, key, async (begin) => {
    const body: unknown = await request.json();
    if (!isObject(body)) throw invalid('Invalid body.', null, null);
    const { input, instructions = '', voice, response_format: format = 'mp3' } = body;
    if (typeof input !== 'string' || input === '')
      throw invalid('input is required', 'input', null);
    if (!voice) throw invalid('voice is required', 'voice', null);
    const model = String(body['model']);
    const hasEvents = body['stream_format'] === 'sse';
    // openai 7.55.0: `SpeechCreateParams.stream_format`.
    if (hasEvents && model.startsWith('tts-1')) {
      throw invalid(`stream_format 'sse' is not supported for ${model}.`, 'stream_format', null);
    }
    const call = await begin(model, input, body);
    const isByTokens = !model.startsWith('tts-1');
    const sound = mediaOf('audio', input);
    call.prompt_tokens = isByTokens ? tokensOf(`${input}${instructions}`) : [...input].length;
    if (isByTokens) call.completion_tokens = Math.ceil(sound.byteLength / BYTES_PER_TOKEN);
    const size = hasEvents ? EVENT_BYTES : PIECE_BYTES;
    const sent = pieces(sound, size, directivesIn(input, call.account), request.signal);
    if (hasEvents) {
      const [input_tokens, output_tokens] = [call.prompt_tokens, call.completion_tokens];
      const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
      return new Response(sent.pipeThrough(asEvents(usage)), {
        headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      });
    }
    return new Response(sent, {
      headers: { 'content-type': format === 'mp3' ? 'audio/mpeg' : `audio/${format}` },
    });
  });
}

/** The events of streamed speech (OpenAI docs: Create speech, streaming events). */
function asEvents(usage: object) {
  const event = (value: object) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      const audio = Buffer.from(piece).toString('base64');
      controller.enqueue(event({ type: 'speech.audio.delta', audio }));
    },
    flush(controller) {
      controller.enqueue(event({ type: 'speech.audio.done', usage }));
    },
  });
}

/** Streams the bytes in pieces of `size` bytes. Pauses, stalls or ends early as the directives say. */
function pieces(
  bytes: Uint8Array,
  size: number,
  directives: Directives,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  let piece = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (directives.truncate_after === piece) return controller.error(new Error('broken off'));
      const wait_ms =
        directives.stall_after === piece
          ? Number.POSITIVE_INFINITY
          : piece > 0
            ? directives.chunk_ms
            : 0;
      if (wait_ms && (await disconnectsWithin(signal, wait_ms))) return controller.error();
      const start = piece * size;
      piece += 1;
      controller.enqueue(bytes.subarray(start, start + size));
      if (start + size >= bytes.byteLength) controller.close();
    },
  });
}

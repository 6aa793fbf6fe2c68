import type { DirectUsage } from '../../catalogue/direct-price.ts';
import type { WeirError } from '../../errors/weir-error.ts';
import type { StreamedSpeech } from '../../inference/direct/speech.ts';
import { streamError } from '../../inference/stream-error.ts';
import { chatErrorEvents } from '../../upstreams/stream/error-events.ts';

/** Writes server-sent events of speech in one protocol, as text. */
export interface SpeechEventWriter {
  readonly piece: (sound: Uint8Array) => string;
  /** Returns the last event of a whole speech. */
  readonly end: (charged: DirectUsage) => string;
  /** Returns the last events of a speech that broke off. */
  readonly error: (error: WeirError) => string;
}

/** The headers of a response with events. */
export const EVENT_STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
};

/** OpenAI's events of speech (OpenAI docs: Create speech, streaming events). */
export function openaiSpeechEvents(request_id: string): SpeechEventWriter {
  return {
    piece: (sound) => event({ type: 'speech.audio.delta', audio: inBase64(sound) }),
    end({ input_tokens = 0, output_tokens = 0 }) {
      const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
      return event({ type: 'speech.audio.done', usage });
    },
    error: (error) => chatErrorEvents(error, request_id),
  };
}

/**
 * Returns the events of streamed speech. The sound ends only after its charge is committed, so the
 * last event has the charged usage (P4).
 */
export function speechEvents(
  { sound, charged }: StreamedSpeech,
  writer: SpeechEventWriter,
): ReadableStream<Uint8Array> {
  const reader = sound.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(client) {
      try {
        const { done, value } = await reader.read();
        client.enqueue(Buffer.from(done ? writer.end(charged()) : writer.piece(value)));
        if (done) client.close();
      } catch (error) {
        // The sound has reported the error already, and is not charged.
        client.enqueue(Buffer.from(writer.error(streamError(error))));
        client.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Returns bytes in Base64. */
export function inBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

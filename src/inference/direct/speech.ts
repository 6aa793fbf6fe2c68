import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import type { Speech, SpeechSynthesizer } from '../../upstreams/direct/contract.ts';
import { type DirectCall, type DirectDeps, openDirect, settleDirect } from './direct.ts';

interface Opened extends Pick<Speech, 'usage'> {
  readonly pieces: AsyncGenerator<Uint8Array>;
  readonly first: Uint8Array;
}

export type SpeechCall = Omit<DirectCall<SpeechSynthesizer, Opened>, 'request'> & {
  /** Told of what the client cannot be told; must not throw. */
  readonly onError: (error: unknown) => void;
};

/**
 * Text into sound that goes out as it comes. The last piece is held back until the charge is
 * committed (P4). A provider bills the whole text with the first byte: so does Weir where the client
 * leaves; sound that breaks off upstream is charged to nobody (P12).
 */
export async function runSpeech(
  deps: DirectDeps,
  call: SpeechCall,
): Promise<ReadableStream<Uint8Array>> {
  const { made, permit, reservation } = await openDirect(deps, {
    ...call,
    // Until its first piece it may still move to another channel (P7).
    request: async (speaker: SpeechSynthesizer, upstream) => {
      const { pieces, usage } = await speaker.synthesize(upstream);
      const { done, value } = await pieces.next();
      if (done) throw new RetryableUpstreamError('malformed', 'an answer without sound');
      return { pieces, first: value, ...(usage ? { usage } : {}) };
    },
  });
  const { pieces } = made;
  let held = made.first;
  let ended = false;
  const settle = (outcome: 'completed' | 'partial') =>
    settleDirect(call, permit, reservation, made.usage ?? call.max_units, {
      outcome,
      estimated: made.usage === undefined && call.max_units.output_tokens !== undefined,
    });
  return new ReadableStream({
    async pull(client) {
      try {
        const { done, value } = await pieces.next();
        if (done) {
          ended = true;
          permit.succeeded();
          await settle('completed');
        }
        client.enqueue(held);
        if (done) client.close();
        else held = value;
      } catch (error) {
        if (!ended && error instanceof RetryableUpstreamError) permit.failed(error);
        else if (!ended) permit.abandoned();
        ended = true;
        reservation.release();
        call.onError(error);
        client.error(error);
      }
    },
    async cancel() {
      if (ended) return;
      ended = true;
      permit.abandoned();
      await settle('partial').catch(call.onError);
      await pieces.return(undefined);
    },
  });
}

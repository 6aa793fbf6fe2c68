import type { DirectUsage } from '../../catalogue/direct-price.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { possible } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import type { Speech, SpeechSynthesizer } from '../../upstreams/direct/contract.ts';
import { noteImpossibleUsage } from '../impossible-usage.ts';
import { noteFailure } from '../records/call-ends.ts';
import { withoutOwnWords } from '../routing/own-words.ts';
import { type DirectCall, type DirectDeps, openDirect, settleDirect } from './direct.ts';

/** Audio whose first bytes have arrived. */
interface OpenedSpeech extends Speech {
  readonly first: Uint8Array;
}

/** A direct call that turns text into speech. */
export type SpeechCall = Omit<DirectCall<SpeechSynthesizer, OpenedSpeech>, 'request'> & {
  /** Receives errors that cannot reach the client any more. Must not throw. */
  readonly onError: (error: unknown) => void;
};

/** Speech that is sent while it arrives. */
export interface StreamedSpeech {
  readonly sound: ReadableStream<Uint8Array>;
  /** Returns what is charged, once `sound` has ended. */
  readonly charged: () => DirectUsage;
}

/**
 * Returns speech as a stream. The last piece is held back until the charge is committed (P4). A
 * provider bills the whole text once it has sent the first byte. So if the client leaves or its
 * deadline passes after the first byte, the whole text is charged. If the upstream fails before the
 * end, nothing is charged (P12). Throws like `runDirect`.
 */
export async function runSpeech(deps: DirectDeps, call: SpeechCall): Promise<StreamedSpeech> {
  const { opened, permit, reservation } = await openDirect(deps, {
    ...call,
    // Failover is possible only before the first piece has arrived (P7).
    request: async (synthesizer: SpeechSynthesizer, upstream) => {
      const speech = await synthesizer.synthesize(upstream);
      const { done, value } = await speech.pieces.next();
      if (done) throw new RetryableUpstreamError('malformed', 'the answer contains no audio');
      return { ...speech, first: value };
    },
  });
  const { pieces } = opened;
  const { record } = call;
  if (record) record.lasts = true;
  const charged = () => possible(opened.usage()) ?? call.max_units;
  let held_piece = opened.first;
  let isDelivered = false;
  let isEnded = false;
  /** True if `cancel` charges the call. The record may not end before. */
  let isLeaving = false;
  const settle = (outcome: 'completed' | 'partial') => {
    const report = opened.usage();
    if (report === 'impossible') noteImpossibleUsage(permit, deps, call.request_id);
    const estimated = possible(report) === null && call.max_units.output_tokens !== undefined;
    return settleDirect(call, permit, reservation, charged(), { outcome, estimated });
  };
  /** Returns the next piece. After the last one, charges the call and returns undefined. */
  const readNext = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await pieces.next();
    if (!done) return value;
    isEnded = true;
    permit.succeeded();
    await settle('completed');
    return undefined;
  };
  const onFailure = async (error: unknown): Promise<void> => {
    const isStopped = !isEnded && call.signal.aborted;
    if (!isEnded && error instanceof RetryableUpstreamError) permit.failed(error);
    else if (!isEnded) permit.abandoned();
    isEnded = true;
    if (isStopped && isDelivered) await settle('partial').catch(call.onError);
    reservation.release();
  };
  // The first piece is sent when the second one has arrived, or when the speech has ended. If the
  // upstream fails before, the client still gets an error with an HTTP status.
  let second: Uint8Array | undefined;
  try {
    second = await readNext();
  } catch (error) {
    await onFailure(error);
    throw brokenOff(error);
  }
  const endBytes = call.bytes.share();
  const sound = new ReadableStream<Uint8Array>({
    async pull(client) {
      try {
        const next = isDelivered ? await readNext() : second;
        client.enqueue(held_piece);
        isDelivered = true;
        if (next) held_piece = next;
        else {
          client.close();
          endBytes();
          record?.end();
        }
      } catch (error) {
        endBytes();
        if (record) noteFailure(record, brokenOff(error), call.signal.aborted);
        await onFailure(error);
        if (!isLeaving) record?.end();
        call.onError(withoutOwnWords(error, permit.channel.config.id));
        client.error(error);
      }
    },
    async cancel() {
      endBytes();
      if (isEnded) return record?.end();
      isEnded = true;
      isLeaving = true;
      permit.abandoned();
      if (record) noteFailure(record, undefined, true);
      await settle('partial').catch(call.onError);
      record?.end();
      await pieces.return(undefined);
    },
  });
  return { sound, charged };
}

/** Returns the error for the client if the speech broke off. Returns other errors unchanged. */
function brokenOff(error: unknown): unknown {
  if (!(error instanceof RetryableUpstreamError)) return error;
  const message = 'The model provider ended the answer before it was complete.';
  return new WeirError('upstream_error', message, {}, error);
}

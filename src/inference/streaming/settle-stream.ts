import type { TokenUsage } from '../../protocols/token-usage.ts';
import { settleCall, sourceOf } from '../call.ts';
import { noteImpossibleUsage } from '../impossible-usage.ts';
import type { PaidUsage, StreamDeps } from './stream-parts.ts';
import { usageBeyond } from './usage-beyond.ts';

/** What was produced of a stream. */
interface ProducedOutput {
  readonly outcome: 'completed' | 'partial';
  /** False if the model produced nothing. */
  readonly hasOutput: boolean;
  /** What earlier calls have paid of the answer. */
  readonly paid: TokenUsage | undefined;
  /** Counts what was produced, for an upstream that reports no usage. */
  readonly count: () => TokenUsage;
}

/**
 * Charges a stream: the usage that the upstream reported, or Weir's own count. A stream without output is free (P12):
 * then the reservation is released, and the result is undefined.
 */
export async function settleStream(
  deps: StreamDeps,
  { outcome, hasOutput, paid, count }: ProducedOutput,
): Promise<PaidUsage | undefined> {
  const { call, reservation } = deps;
  const { stream, permit } = deps.open;
  if (stream.hasImpossibleUsage()) noteImpossibleUsage(permit, deps, call.request_id);
  const reported = outcome === 'completed' ? stream.usage() : null;
  if (!reported && !hasOutput) {
    reservation.release();
    return undefined;
  }
  const usage = reported ?? count();
  const rest = paid ? usageBeyond(usage, paid) : usage;
  const draft = { usage: rest, ...sourceOf(permit), estimated: reported === null };
  const settlement = await settleCall(call, reservation, draft, outcome);
  if (call.record) call.record.isCharged = true;
  return { ...settlement, usage };
}

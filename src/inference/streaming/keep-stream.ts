import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { TextBuilder } from '../../upstreams/stream/grown-text.ts';
import { KeptStream } from '../cache/kept-answer.ts';
import { draftCharge, sourceOf } from '../call.ts';
import type { PaidUsage, StreamDeps } from './stream-parts.ts';

/** A complete answer that was sent. */
interface SentStream {
  /** What was sent before `last`. Undefined if nothing was. */
  readonly sent: TextBuilder | undefined;
  /** The events that complete the answer, in pieces. */
  readonly last: readonly string[];
  readonly paid: PaidUsage;
  /** What earlier calls have paid of it. */
  readonly paid_before: TokenUsage | undefined;
  /** True if the answer may be sent again later. */
  readonly is_fit: boolean;
}

/** Keeps a complete answer for calls with the same request, and gives it to the calls that follow. */
export function keepStream(deps: StreamDeps, ended: SentStream): void {
  const { lookup, flight } = deps;
  if (!lookup) return;
  const { sent, last, paid, is_fit } = ended;
  const pieces = sent ? [...sent.parts(), ...last] : last;
  const kept = new KeptStream(pieces, paid.usage, costOf(deps, ended));
  if (is_fit) lookup.keep(kept);
  if (!flight) return;
  const rest = flight.hasFollowers ? last.join('') : '';
  flight.finish({ state: 'answered', kept, rest });
}

/** Returns what the whole answer cost, nano-USD: also what earlier calls have paid of it. */
function costOf(
  { call, open }: StreamDeps,
  { paid, paid_before }: Pick<SentStream, 'paid' | 'paid_before'>,
): number {
  const { usage, charged, overrun } = paid;
  if (!paid_before) return charged + overrun;
  return draftCharge(call, { usage, ...sourceOf(open.permit) }).amount;
}

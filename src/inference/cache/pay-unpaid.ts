import type { Lookup } from './answer-cache.ts';
import type { Flight, FlightCall, Follower, UnpaidAnswer } from './flight.ts';
import type { KeptAnswer } from './kept-answer.ts';

/**
 * Charges an answer whose first client has left to a follower, and lets the others have it. Resolves
 * when the charge is committed, and throws its error.
 */
export async function payUnpaid<Member extends Follower<FlightCall>>(
  flight: Flight<Member>,
  member: Member,
  lookup: Lookup,
  { text, usage, is_fit, pay }: UnpaidAnswer<Member>,
): Promise<KeptAnswer> {
  try {
    const { charged, overrun } = await pay(member);
    const kept = { text, is_stream: false, usage, cost_nano_usd: charged + overrun };
    flight.payer_request_id = member.call.request_id;
    if (is_fit) lookup.keep(kept);
    flight.finish({ state: 'answered', kept, rest: '' });
    return kept;
  } catch (error) {
    flight.finish({ state: 'failed' });
    throw error;
  }
}

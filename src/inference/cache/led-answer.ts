import type { ChannelPermit } from '../../actors/channels/channel.ts';
import type { BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import { untilAborted } from '../../upstreams/transport/deadlines.ts';
import { ClientDeadline } from '../client-deadline.ts';
import type { Flight, FlightCall, Follower, UnpaidAnswer } from './flight.ts';

/** A call that began a flight. */
interface LeadingCall extends FlightCall {
  readonly bytes?: BytesInFlight | undefined;
}

/**
 * Resolves like `work`, the whole answer for the call that began a flight. If the call needs no answer
 * any more, but identical calls wait for it, the work goes on for them, and one of them pays the answer:
 * then this function rejects with the reason of the call's signal.
 */
export async function ledAnswer<
  Served extends { readonly permit: ChannelPermit },
  Member extends Follower<LeadingCall>,
>(
  work: Promise<Served>,
  flight: Flight<Member>,
  unpaidOf: (served: Served) => UnpaidAnswer<Member>,
): Promise<Served> {
  const { signal } = flight.leader;
  const served = await (signal instanceof ClientDeadline
    ? untilDeadline(work, flight, unpaidOf)
    : work);
  if (!flight.isAbandoned) return served;
  served.permit.succeeded();
  flight.handOver(unpaidOf(served));
  throw signal.reason;
}

/** Resolves like `work`, or rejects at the deadline of the call that began the flight. */
async function untilDeadline<
  Served extends { readonly permit: ChannelPermit },
  Member extends Follower<LeadingCall>,
>(
  work: Promise<Served>,
  flight: Flight<Member>,
  unpaidOf: (served: Served) => UnpaidAnswer<Member>,
): Promise<Served> {
  const { leader } = flight;
  const continued = work.then(
    (served) => {
      if (!flight.goesOn) return;
      served.permit.succeeded();
      flight.handOver(unpaidOf(served));
    },
    (error: unknown) => flight.goesOn && flight.finish({ state: 'failed', error }),
  );
  try {
    return await untilAborted(work, leader.signal);
  } catch (error) {
    flight.goesOn = flight.isAbandoned;
    if (flight.goesOn) {
      // The bytes of the answer are counted until it is there.
      const endBytes = leader.bytes?.share();
      void continued.finally(() => endBytes?.());
    }
    throw error;
  }
}

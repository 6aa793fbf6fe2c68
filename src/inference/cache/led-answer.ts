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
 * Resolves like `work`, the whole answer for the call that began a flight. At the deadline of the call it rejects, but
 * if identical calls wait for the answer, the work goes on for them.
 */
export function ledAnswer<
  Served extends { readonly permit: ChannelPermit },
  Member extends Follower<LeadingCall>,
>(
  work: Promise<Served>,
  flight: Flight<Member>,
  unpaidOf: (served: Served) => UnpaidAnswer<Member>,
): Promise<Served> {
  const hasDeadline = flight.leader.signal instanceof ClientDeadline;
  return hasDeadline ? untilDeadline(work, flight, unpaidOf) : work;
}

/**
 * Lets an identical call pay the answer if the call that began the flight needs it no more: then it throws the reason of
 * the call's signal.
 */
export function handOverIfAbandoned<
  Served extends { readonly permit: ChannelPermit },
  Member extends Follower<LeadingCall>,
>(
  served: Served,
  flight: Flight<Member>,
  unpaidOf: (served: Served) => UnpaidAnswer<Member>,
): void {
  if (!flight.isAbandoned) return;
  served.permit.succeeded();
  flight.handOver(unpaidOf(served));
  throw flight.leader.signal.reason;
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

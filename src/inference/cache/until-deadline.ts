import type { ChannelPermit } from '../../actors/channels/channel.ts';
import { untilAborted } from '../../upstreams/transport/deadlines.ts';
import type { Flight, UnpaidAnswer } from './flight.ts';

/**
 * Resolves like `work`, or rejects at the deadline of the call that began the flight. If identical calls
 * wait for the answer, the work goes on for them, and one of them pays the answer.
 */
export async function untilDeadline<Served extends { readonly permit: ChannelPermit }>(
  work: Promise<Served>,
  flight: Flight,
  unpaidOf: (served: Served) => UnpaidAnswer,
): Promise<Served> {
  const { leader } = flight;
  let isOver = false;
  const continued = work.then(
    (served) => {
      if (!isOver) return;
      served.permit.succeeded();
      flight.handOver(unpaidOf(served));
    },
    () => isOver && flight.finish({ state: 'failed' }),
  );
  try {
    return await untilAborted(work, leader.signal);
  } catch (error) {
    isOver = flight.isAbandoned;
    if (isOver) {
      // The bytes of the answer are counted until it is there.
      const endBytes = leader.bytes?.share();
      void continued.finally(() => endBytes?.());
    }
    throw error;
  }
}

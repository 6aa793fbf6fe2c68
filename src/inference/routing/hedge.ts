import type { ChannelActor } from '../../actors/channels/channel.ts';
import { type Attempt, Failover, type RoutingOptions, type Served } from './route.ts';

/** Why a lane was stopped: the other one was faster. */
const LOST = new DOMException('another channel answered first', 'AbortError');

/**
 * Like `withFailover`, on a second channel as well where the first takes longer than it mostly does
 * (the p95 of its last calls). Whoever answers first wins; the other is stopped and, had it answered
 * too, given to `discard`. Only the winner is charged: what the loser cost is the platform's.
 */
export function withHedge<Result>(
  channels: readonly ChannelActor[],
  surroundings: RoutingOptions,
  attempt: Attempt<Result>,
  discard: (served: Served<Result>) => void,
): Promise<Served<Result>> {
  const failover = new Failover(channels, surroundings, attempt);
  const lanes: AbortController[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = 0;
  let over = false;
  return new Promise<Served<Result>>((resolve, reject) => {
    const end = (winner?: AbortController) => {
      over = true;
      clearTimeout(timer);
      for (const lane of lanes) if (lane !== winner) lane.abort(LOST);
    };
    const enter = async (begun?: (channel: ChannelActor) => void) => {
      const lane = new AbortController();
      lanes.push(lane);
      running += 1;
      try {
        const served = await failover.run({ signal: lane.signal, markStarted: begun });
        running -= 1;
        if (over && served) discard(served);
        if (over) return;
        if (served) {
          end(lane);
          resolve(served);
        } else if (running === 0) {
          end();
          reject(failover.refusal());
        }
      } catch (error) {
        if (over) return;
        end();
        reject(error);
      }
    };
    void enter(({ latency }) => {
      clearTimeout(timer);
      // Where nobody knows what is usual, nobody is late.
      if (latency.p95_ms !== undefined) timer = setTimeout(() => void enter(), latency.p95_ms);
    });
  });
}

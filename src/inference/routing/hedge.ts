import type { ChannelActor } from '../../actors/channels/channel.ts';
import { type Attempt, Failover, type RoutingOptions, type Served } from './route.ts';

/** Abort reason of the slower attempt. */
const OTHER_WAS_FASTER = new DOMException('another channel answered first', 'AbortError');

/**
 * Works like `withFailover`, but hedges the call: if the first channel takes longer than 95% of its
 * last calls (p95), a second channel is called too. The first answer wins, and the other attempt is
 * aborted. If the aborted attempt succeeds nevertheless, `discard` receives its result. The client
 * is charged only for the first answer. The platform pays for the other attempt.
 */
export function withHedge<Result>(
  channels: readonly ChannelActor[],
  options: RoutingOptions,
  attempt: Attempt<Result>,
  discard: (served: Served<Result>) => void,
): Promise<Served<Result>> {
  const failover = new Failover(channels, options, attempt);
  const attempts: AbortController[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = 0;
  let isFinished = false;
  return new Promise<Served<Result>>((resolve, reject) => {
    const finish = (winner?: AbortController) => {
      isFinished = true;
      clearTimeout(timer);
      for (const controller of attempts)
        if (controller !== winner) controller.abort(OTHER_WAS_FASTER);
    };
    const startAttempt = async (onStarted?: (channel: ChannelActor) => void) => {
      const controller = new AbortController();
      attempts.push(controller);
      running += 1;
      try {
        const served = await failover.run({ signal: controller.signal, onStarted });
        running -= 1;
        if (isFinished && served) discard(served);
        if (isFinished) return;
        if (served) {
          finish(controller);
          resolve(served);
        } else if (running === 0) {
          finish();
          reject(failover.refusal());
        }
      } catch (error) {
        if (isFinished) return;
        finish();
        reject(error);
      }
    };
    void startAttempt(({ latency }) => {
      clearTimeout(timer);
      // A channel without enough calls has no p95, so no second attempt starts.
      if (latency.p95_ms !== undefined)
        timer = setTimeout(() => void startAttempt(), latency.p95_ms);
    });
  });
}

import { WeirError } from '../../errors/weir-error.ts';
import type { ArrivalNews, Arrivals } from '../../inference/records/arrivals.ts';
import type { Authentication } from '../auth/authentication.ts';
import { checkedStream } from '../checked-stream.ts';
import type { Handler } from '../endpoint.ts';

/** Dependencies of the route. */
export interface ArrivalDeps {
  readonly authentication: Authentication;
  /** The calls of all replicas. */
  readonly arrivals: () => Pick<Arrivals, 'open'>;
}

/** Replicas' clocks differ a little, so a resumed stream repeats the last moment. */
const OVERLAP_MS = 2_000;

/**
 * `GET /v1/operator/arrivals`: each call that reaches any replica, also refused ones, as server-sent
 * events. `call` has a call as it is now; the same `request_id` comes again when the call goes on.
 * `skipped` counts calls that came too fast to be shown. A stream begins with the latest calls. The
 * header `Last-Event-ID` resumes a stream, also on another replica; the last calls then come again.
 */
export function streamArrivals(deps: ArrivalDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    const since = sinceOf(context.request.headers.get('last-event-id'));
    return checkedStream({
      ...{ context, source: deps.arrivals().open(since) },
      admit: () => deps.authentication.requireOperator(context),
      textOf: (news) => news.map(textOf).join(''),
    });
  };
}

/** Returns the time from which on a client needs calls, ms since the Unix epoch. Throws WeirError. */
function sinceOf(last: string | null): number | undefined {
  if (last === null || last === '') return undefined;
  if (/^\d{1,15}$/.test(last)) return Number(last) - OVERLAP_MS;
  throw new WeirError('invalid_request', 'Last-Event-ID is not the id of an event.', {
    param: 'Last-Event-ID',
    hint: 'Send the id of the last event of this stream, or leave the header out.',
  });
}

function textOf({ changed_at_ms, call, skipped }: ArrivalNews): string {
  const [event, data] = call ? ['call', call] : ['skipped', skipped];
  return `id: ${Math.floor(changed_at_ms)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

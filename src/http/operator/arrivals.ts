import { WeirError } from '../../errors/weir-error.ts';
import type { ArrivalNews, ArrivalStream, Arrivals } from '../../inference/records/arrivals.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { Handler } from '../endpoint.ts';
import {
  EVENT_STREAM_HEADERS,
  MAX_STREAM_MS,
  STALLED_AFTER_S,
  STREAM_HEARTBEAT_MS,
} from '../event-stream.ts';

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
    const { request, server } = context;
    const stream = deps.arrivals().open(sinceOf(request.headers.get('last-event-id')));
    if (!stream) {
      const message = 'Too many event streams are open.';
      throw new WeirError('service_unavailable', message, { retry_after: 10 });
    }
    const body = new ReadableStream<string>({
      type: 'direct',
      pull: (client) =>
        pump(client, stream, async () => {
          await deps.authentication.requireOperator(context);
          server?.timeout(request, STALLED_AFTER_S);
        }),
      cancel: () => stream.close(),
    });
    server?.timeout(request, STALLED_AFTER_S);
    return new Response(body, { headers: EVENT_STREAM_HEADERS });
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

async function pump(
  client: Pick<ReadableStreamDirectController, 'write' | 'flush' | 'end'>,
  stream: ArrivalStream,
  keepOpen: () => Promise<void>,
): Promise<void> {
  const ends_at_ms = performance.now() + MAX_STREAM_MS;
  try {
    client.write(': open\n\n');
    client.flush();
    while (performance.now() < ends_at_ms) {
      const news = await stream.next(STREAM_HEARTBEAT_MS);
      if (news === null) break;
      // The operator may have lost the right since the last event.
      await keepOpen();
      const text = news.map(textOf).join('');
      const written = client.write(text === '' ? ': keep-alive\n\n' : text);
      const sent = client.flush();
      await written;
      await sent;
    }
  } catch {
    // The stream ends. If the client resumes, it gets the error.
  }
  stream.close();
  client.end();
}

function textOf({ changed_at_ms, call, skipped }: ArrivalNews): string {
  const [event, data] = call ? ['call', call] : ['skipped', skipped];
  return `id: ${Math.floor(changed_at_ms)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

import { WeirError } from '../../errors/weir-error.ts';
import { taskNotFound } from '../../inference/tasks/task-watches.ts';
import type { Handler } from '../endpoint.ts';
import { EVENT_STREAM_HEADERS, STALLED_AFTER_S } from '../event-stream.ts';
import { createLink } from './answer.ts';
import { TaskEventStream } from './event-stream.ts';
import type { GenerationRouteDeps } from './ports.ts';
import { findTask } from './route.ts';

/** The number of an event, which is the field `id` of each server-sent event. */
const EVENT_ID = /^[1-9]\d{0,14}$/;

/**
 * Sends the public changes of a task as server-sent events. The last event is the record of the
 * ended task (P11). The header `Last-Event-ID` resumes a stream. If the client has the last event
 * already, the response is 204: then an `EventSource` stops (HTML Standard: Server-sent events).
 * Another organization's task gives exactly the same response as a task that does not exist (P6).
 */
export function getTaskEvents(deps: GenerationRouteDeps): Handler {
  return async (context) => {
    const { request, params, server } = context;
    const key = await deps.authentication.requireKey(context);
    await deps.rateLimit.consume(key, context);
    const ports = deps.generation();
    const view = await findTask(ports, params['id'] ?? '', key.organization_id);
    if (!view) throw taskNotFound();
    const { signal } = request;
    const known_seq = readKnownSeq(request);
    if (request.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS });
    const known = known_seq === undefined ? {} : { known_seq };
    const link = createLink(request, ports);
    const watch = await ports.tasks.watch({ id: view.id, key, signal, ...known });
    if (watch.isOver) {
      watch.close();
      return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } });
    }
    const stream = new TaskEventStream(watch, {
      view,
      link,
      requireKey: () => deps.authentication.requireKey(context),
      keepOpen: () => server?.timeout(request, STALLED_AFTER_S),
    });
    return new Response(stream.body(), { headers: EVENT_STREAM_HEADERS });
  };
}

/**
 * Returns the event number in the header `Last-Event-ID`; undefined if the header is missing or
 * empty. Throws WeirError `invalid_request` if the header's value is not the number of an event.
 */
function readKnownSeq({ headers }: Request): number | undefined {
  const text = headers.get('last-event-id');
  if (text === null || text === '') return undefined;
  if (EVENT_ID.test(text)) return Number(text);
  throw new WeirError('invalid_request', 'Last-Event-ID is not the id of an event.', {
    param: 'Last-Event-ID',
    hint: 'Send the id of the last event of this stream, or leave the header out.',
  });
}

import type { inspectedActor } from '../src/inference/inspection/inspected.ts';
import type { shownEvent } from '../src/inference/inspection/past-view.ts';
import type { InspectClient } from './inspect-client.ts';

/** The most events of one request. */
const MAX_EVENTS = 1_000;

/** One actor, as the routes show it. */
export type ShownActor = Awaited<ReturnType<typeof inspectedActor>>;
/** One event of an actor, as the routes show it. */
export type ShownEvent = ReturnType<typeof shownEvent>;

interface EventList {
  readonly data: readonly ShownEvent[];
  readonly has_more: boolean;
}

/** The last event that was printed. */
export interface LastPrinted {
  readonly seq: number;
  readonly at: string | undefined;
  readonly type: string | undefined;
}

/**
 * Prints the events after number `after`. Returns the last one. `printed` is the last one that was
 * printed before: a sum of calls keeps its number when it grows, and is printed again.
 */
export async function printEvents(
  client: InspectClient,
  actor: ShownActor,
  after: number,
  print: (event: ShownEvent) => void,
  printed?: LastPrinted,
): Promise<LastPrinted> {
  let last = printed ?? { seq: after, at: undefined, type: undefined };
  let from = after;
  for (;;) {
    const query = { ...replicaOf(actor), after: from, limit: MAX_EVENTS };
    const { body } = await client.get<EventList>(`${pathOf(actor)}/events`, query);
    for (const event of body.data) {
      const { seq, at } = event;
      from = seq;
      if (seq < last.seq || (seq === last.seq && at === last.at)) continue;
      print(event);
      last = { seq, at, type: event.event.type };
    }
    if (!body.has_more || body.data.length === 0) return last;
  }
}

/** The path of an actor below `…/inspect`. */
export const pathOf = ({ kind, id }: Pick<ShownActor, 'kind' | 'id'>): string =>
  `/actors/${kind}/${encodeURIComponent(id)}`;

/** The parameter that chooses a quota or a channel of one replica. Durable actors need none. */
function replicaOf({ replicas, replica }: ShownActor): { replica?: string } {
  return replicas !== null && replica !== null ? { replica } : {};
}

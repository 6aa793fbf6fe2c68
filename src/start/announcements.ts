import type { Bus } from '../actors/bus/bus.ts';
import type { CommittedElsewhere, Registry } from '../actors/durable/registry.ts';

/** The most events in one message. A message must fit into a notification of PostgreSQL. */
const MAX_EVENTS = 64;

/**
 * Returns a function that sends the events that this replica committed to the other replicas. While
 * no other replica is known, the function sends nothing. When another replica is known again, the
 * function first sends a gap (the report that messages may be lost), because that replica may have
 * missed events.
 */
export function announceOver(
  bus: Pick<Bus, 'peerCount' | 'publish' | 'publishGap'>,
  replica_id: () => string,
) {
  let hasSkipped = false;
  return (events: readonly CommittedElsewhere[]) => {
    if (bus.peerCount === 0) {
      hasSkipped = true;
      return;
    }
    if (hasSkipped) bus.publishGap('actors');
    hasSkipped = false;
    const replica = replica_id();
    const tuples = events.map(({ kind, id, seq, owner }): [string, string, number, string] => [
      kind,
      id,
      seq,
      owner ?? '',
    ]);
    for (let start = 0; start < tuples.length; start += MAX_EVENTS) {
      bus.publish('actors', { replica, events: tuples.slice(start, start + MAX_EVENTS) });
    }
  };
}

/** Passes the events that other replicas commit to the live actors of this replica. */
export function subscribeActors(bus: Bus, registry: Registry, replica_id: () => string): void {
  bus.subscribe('actors', {
    onMessage({ replica, events }) {
      if (replica === replica_id()) return;
      registry.onCommittedElsewhere(
        events.map(([kind, id, seq, owner]) => ({ kind, id, seq, owner })),
      );
    },
    onGap: () => registry.onGap(),
  });
}

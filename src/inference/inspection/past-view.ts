import type { Sql } from 'postgres';
import { hashSnapshot } from '../../actors/durable/snapshot.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import { type ReplayedEvent, ReplayMismatch } from '../../replay/replay.ts';
import { statePath } from '../../replay/step.ts';
import { snapshotOf } from './inspected.ts';
import type { FoundActor } from './inspector.ts';
import { type Past, type PastEvent, pastOfRing, pastOfRows, replayPast } from './past.ts';
import type { Viewer } from './viewer.ts';

/** An actor's past, replayed as far as it leads to the stored hashes. */
export interface ReplayedPast extends Past {
  readonly kind: string;
  readonly id: string;
  readonly replayed: readonly ReplayedEvent[];
  /** The first event that does not lead to its stored hash; undefined if all do. */
  readonly mismatch: ReplayMismatch | undefined;
}

/** Returns the first `count` events of an actor, and replays them. */
export async function readPast(sql: Sql, found: FoundActor, count: number): Promise<ReplayedPast> {
  const { kind, id } = found.row ?? found.memory;
  const past = found.row ? await pastOfRows(sql, found.row, count) : pastOfRing(found.memory);
  try {
    return { kind, id, ...past, replayed: replayPast(past), mismatch: undefined };
  } catch (error) {
    if (!(error instanceof ReplayMismatch)) throw error;
    const events = past.events.filter(({ seq }) => seq < error.seq);
    return { kind, id, ...past, replayed: replayPast({ ...past, events }), mismatch: error };
  }
}

/** Returns one event as the viewer sees it. `replayed` is the actor after it. */
export function shownEvent(
  viewer: Viewer,
  { kind, id }: Pick<ReplayedPast, 'kind' | 'id'>,
  event: PastEvent,
  replayed: ReplayedEvent | undefined,
) {
  const { cause, cause_id, money } = event;
  return {
    object: 'actor.event' as const,
    seq: event.seq,
    at: event.at.toISOString(),
    event: viewer.members(kind, id, event.event) as { readonly type: string },
    taken: event.taken,
    ...{ from: event.from_state, to: event.to_state, machine_version: event.machine_version },
    /** The hash of state and context after the event, as the viewer sees them. */
    hash: hashFor(viewer, kind, id, event, replayed),
    money: money && {
      held_nano_usd: money.held ?? 0,
      settled_nano_usd: 'settled' in money ? money.settled : 0,
      released_nano_usd: 'released' in money ? money.released : 0,
    },
    cause: cause ?? null,
    request_id: cause === 'call' && cause_id !== undefined ? requestIdOf(cause_id) : null,
    task_id: cause === 'job' ? (cause_id ?? null) : null,
  };
}

/**
 * A hash of what the viewer may not see could be used to guess it. So where the viewer sees other
 * values, the hash is that of these values.
 */
function hashFor(
  viewer: Viewer,
  kind: string,
  id: string,
  { context_hash }: PastEvent,
  replayed: ReplayedEvent | undefined,
): string | null {
  if (!viewer.isVeiled(kind)) return context_hash;
  return replayed ? hashSnapshot(snapshotOf(viewer, kind, id, replayed.snapshot)) : null;
}

/** Returns the actor after event `seq`, what the event changed, and whether the hash agrees. */
export function stateAt(viewer: Viewer, past: ReplayedPast, seq: number) {
  const { kind, id, events, replayed, base, mismatch } = past;
  const index = events.findIndex((event) => event.seq === seq);
  const event = events[index];
  const after = replayed[index];
  if (!event) return undefined;
  const before = index === 0 ? base : replayed[index - 1];
  const shown = after && snapshotOf(viewer, kind, id, after.snapshot);
  const shownBefore = before && snapshotOf(viewer, kind, id, before.snapshot);
  return {
    object: 'actor.moment' as const,
    ...{ kind, id, event: shownEvent(viewer, past, event, after) },
    state: after ? statePath(after.snapshot) : event.to_state,
    value: shown?.value ?? null,
    context: shown?.context ?? null,
    changed: shown ? changedMembers(shownBefore?.context ?? {}, shown.context) : [],
    /** True if the replay up to this event leads to the stored hash of every event. */
    is_verified: after !== undefined && event.context_hash !== null,
    /** Why the replay stopped before this event. */
    problem: after ? null : (mismatch?.message ?? null),
  };
}

function changedMembers(before: Record<string, unknown>, after: Record<string, unknown>) {
  return Object.entries(after)
    .filter(([name, value]) => !Bun.deepEquals(before[name], value))
    .map(([member, value]) => ({ member, before: before[member] ?? null, after: value }));
}

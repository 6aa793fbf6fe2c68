import type { ActorWaits, ListedActor } from '../../../db/actors/inspection.ts';
import { topState } from '../../replay/step.ts';
import { isStuck, usualMs } from '../../replay/usual.ts';
import { attemptOf, wordsFor } from '../../replay/words.ts';
import type { ListedMemoryActor } from './memory-actors.ts';
import type { Viewer } from './viewer.ts';

const US_PER_MS = 1_000;
/** The timer that ends a task, whatever it waits for. */
const DEADLINE = 'deadline';

/** An actor in a list. Times are RFC 3339 texts. */
export interface ActorRecord {
  readonly object: 'actor';
  readonly kind: string;
  readonly id: string;
  /** The replica that owns the actor; null if none does. */
  readonly replica: string | null;
  readonly organization_id: string | null;
  readonly state: string;
  /** When the actor entered the first part of its state. */
  readonly since: string;
  /** The number of its last event. */
  readonly seq: number;
  readonly machine_version: number;
  /** False if the actor has ended. */
  readonly live: boolean;
  /** What it does or waits for, in words. */
  readonly says: string;
  /** Which attempt it makes or waits for, from 1; null if its state has none. */
  readonly attempt: number | null;
  /** When something happens next by itself; null = only an event from outside changes it. */
  readonly next_at: string | null;
  readonly deadline_at: string | null;
  /** How long actors are usually in the first part of this state; null if they may rest there. */
  readonly usual_ms: number | null;
  /** True if the actor is longer in it than is usual. */
  readonly is_stuck: boolean;
}

/** Returns the record of a durable actor. */
export function durableRecord(
  viewer: Viewer,
  actor: ListedActor,
  waits: ActorWaits | undefined,
): ActorRecord {
  const { kind, state, live } = actor;
  const { [DEADLINE]: deadline_at = null, ...timers } = waits?.timers ?? {};
  const effect = waits?.effects[0];
  const times = [
    ...Object.values(timers),
    // An effect that failed before is tried again at this time.
    ...(effect && effect.attempts > 0 ? [effect.next_attempt_at] : []),
  ].sort();
  return {
    ...shared(viewer, actor),
    attempt: live ? attemptOf(kind, state, waits?.context ?? {}, effect?.attempts ?? null) : null,
    ...{ next_at: times[0] ?? null, deadline_at: live ? deadline_at : null },
  };
}

/** Returns the record of an actor in the memory of a replica. */
export function memoryRecord(viewer: Viewer, actor: ListedMemoryActor): ActorRecord {
  const { kind, state, context } = actor;
  const { open_until = 0, returns } = context as { open_until?: number; returns?: boolean };
  const isTimed = state === 'open' || (state === 'disabled' && returns === true);
  return {
    ...shared(viewer, actor),
    attempt: attemptOf(kind, state, context as Record<string, unknown>, null),
    next_at: isTimed ? new Date(open_until).toISOString() : null,
    deadline_at: null,
  };
}

function shared(viewer: Viewer, actor: ListedActor) {
  const { kind, id, organization_id, state, seq, machine_version, live, replica, since_us } = actor;
  const since_ms = Math.floor(since_us / US_PER_MS);
  const top = topState(state);
  return {
    object: 'actor' as const,
    ...{ kind, id, organization_id, state, seq, machine_version, live },
    replica: replica === '' ? null : viewer.replica(replica),
    since: new Date(since_ms).toISOString(),
    usual_ms: usualMs(kind, top),
    is_stuck: live && isStuck(kind, top, since_ms, Date.now()),
    says: wordsFor(kind, state),
  };
}

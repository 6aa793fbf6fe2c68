import type { Sql } from 'postgres';
import { type EventMoney, type HistoryRow, readHistory } from '../../../db/actors/history.ts';
import type { ActorAddress } from '../../../db/actors/store.ts';
import { hashSnapshot, sha256 } from '../../actors/durable/snapshot.ts';
import { BY_OPERATOR, type Cause } from '../../replay/event-ring.ts';
import { MACHINES } from '../../replay/machines.ts';
import { type EventToReplay, type ReplayedEvent, replay } from '../../replay/replay.ts';
import { statePath } from '../../replay/step.ts';
import { restoreSnapshot } from '../../replay/stored-snapshot.ts';
import type { Json, VersionedMachine } from '../../replay/versioned.ts';
import type { MemoryActor } from './memory-actors.ts';

/** The most events of one actor that are replayed for one answer. */
const MAX_REPLAYED = 20_000;

/** One event of an actor's past, from its log or from its ring. */
export interface PastEvent extends EventToReplay {
  readonly event: { readonly type: string };
  readonly at: Date;
  readonly from_state: string;
  readonly money: EventMoney | null;
  /** Undefined if it was not recorded. */
  readonly cause?: Cause | undefined;
  readonly cause_id?: string | undefined;
}

/** What is known of an actor's past. */
export interface Past {
  readonly machine: VersionedMachine;
  /** The actor before the first event; undefined if the first event is the first of its life. */
  readonly base: ReplayedEvent | undefined;
  readonly events: readonly PastEvent[];
}

/** Returns the machine of a kind. Throws for an unknown kind. */
export function machineOf(kind: string): VersionedMachine {
  const machine = MACHINES[kind];
  if (!machine) throw new Error(`no machine of kind ${kind}`);
  return machine;
}

/** Returns the first `count` events of a durable actor. */
export async function pastOfRows(
  sql: Sql,
  { kind, id }: ActorAddress,
  count: number,
): Promise<Past> {
  const events: PastEvent[] = [];
  const wanted = Math.min(count, MAX_REPLAYED);
  while (events.length < wanted) {
    const page = await readHistory(sql, kind, id, events.length, wanted - events.length);
    if (page.length === 0) break;
    events.push(...page.map(pastEvent));
  }
  return { machine: machineOf(kind), base: undefined, events };
}

/** An event of the log names its cause only if an operator caused it. */
function pastEvent(row: HistoryRow): PastEvent {
  const event = row.event as { type: string; by?: string };
  return { ...row, event, cause: event.by === BY_OPERATOR ? BY_OPERATOR : undefined };
}

/** Returns the kept events of an actor without a log. */
export function pastOfRing({ kind, base, events, machine_version }: MemoryActor): Past {
  const machine = machineOf(kind);
  let from_state = statePath(base as never);
  const past = events.map(({ seq, at_ms, event, after, cause, cause_id }): PastEvent => {
    const from = from_state;
    from_state = statePath(after as never);
    return {
      ...{ seq, event, taken: true, from_state: from, to_state: from_state, machine_version },
      ...{ at: new Date(at_ms), context_hash: hashSnapshot(after as never), money: null },
      ...{ cause, cause_id },
    };
  });
  const [first] = past;
  const stored = { snapshot: base as unknown as Json, machine_version };
  const snapshot = restoreSnapshot(machine, stored);
  const context_hash = hashSnapshot(snapshot);
  return {
    machine,
    base: { seq: (first?.seq ?? 1) - 1, machine_version, snapshot, context_hash },
    events: past,
  };
}

/** Replays a past. Throws ReplayMismatch at the first event that does not lead to its stored hash. */
export function replayPast({ machine, base, events }: Past): ReplayedEvent[] {
  return replay(machine, events, sha256, base);
}

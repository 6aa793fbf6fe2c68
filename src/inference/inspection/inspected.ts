import type { Sql } from 'postgres';
import { type AnyMachineSnapshot, __unsafe_getAllOwnEventDescriptors as eventsOf } from 'xstate';
import { readMoneySums, readWaits } from '../../../db/actors/inspection.ts';
import { restoreSnapshot } from '../../replay/stored-snapshot.ts';
import type { Json } from '../../replay/versioned.ts';
import { type Act, actsOf } from './act-rules.ts';
import { durableRecord, memoryRecord } from './actor-record.ts';
import type { FoundActor } from './inspector.ts';
import { machineOf } from './past.ts';
import type { Viewer } from './viewer.ts';

/** Returns one actor as the viewer sees it: its record, its snapshot, and what happens next. */
export async function inspectedActor(sql: Sql, viewer: Viewer, found: FoundActor) {
  return found.row ? durable(sql, viewer, found.row) : inMemory(viewer, found);
}

async function durable(sql: Sql, viewer: Viewer, row: NonNullable<FoundActor['row']>) {
  const { kind, id, created_at, updated_at } = row;
  const [[waits], money] = await Promise.all([readWaits(sql, [row]), readMoneySums(sql, row)]);
  const snapshot = snapshotOfFound({ row });
  return {
    ...durableRecord(viewer, row, waits),
    ...snapshotOf(viewer, kind, id, snapshot),
    next_events: row.live ? nextEvents(snapshot) : [],
    acts: actsFor(viewer, kind, snapshot),
    /** Events from this number on can be read. */
    first_seq: 1,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    timers: Object.entries(waits?.timers ?? {}).map(([name, fires_at]) => ({ name, fires_at })),
    effects: (waits?.effects ?? []).map(({ effect, attempts, next_attempt_at }) => ({
      ...{ name: effect, attempts, next_attempt_at },
    })),
    money,
    ...{ replicas: null, base: null },
  };
}

function inMemory(viewer: Viewer, found: Extract<FoundActor, { memory: object }>) {
  const { memory, replicas } = found;
  const { kind, id, base, events } = memory;
  const snapshot = snapshotOfFound(found);
  return {
    ...memoryRecord(viewer, memory),
    ...snapshotOf(viewer, kind, id, snapshot),
    next_events: nextEvents(snapshot),
    acts: actsFor(viewer, kind, snapshot),
    first_seq: events[0]?.seq ?? memory.seq + 1,
    ...{ created_at: null, updated_at: events.at(-1) ? isoOf(events.at(-1)?.at_ms) : null },
    ...{ timers: [], effects: [], money: null },
    replicas: replicas.map((replica) => viewer.replica(replica)),
    /** State and context before event `first_seq`. */
    base: { value: base.value, context: viewer.members(kind, id, base.context) },
  };
}

/** Returns the snapshot of an actor, for the present version of its machine. */
export function snapshotOfFound(found: Pick<FoundActor, 'row' | 'memory'>): AnyMachineSnapshot {
  const { row, memory } = found;
  if (row) {
    const { machine_version } = row;
    return restoreSnapshot(machineOf(row.kind), {
      snapshot: row.snapshot as Json,
      machine_version,
    });
  }
  if (!memory) throw new Error('an actor is a row or in memory');
  const { kind, value, context } = memory;
  const machine = machineOf(kind);
  const snapshot = { value, context } as unknown as Json;
  return restoreSnapshot(machine, { snapshot, machine_version: machine.version });
}

/** What the viewer can do to the actor now. Organizations have other routes for their tasks and batches. */
function actsFor({ organization_id }: Viewer, kind: string, snapshot: AnyMachineSnapshot): Act[] {
  return organization_id === null ? actsOf(kind, snapshot) : [];
}

/** State and context of an actor, as the viewer sees them. */
export function snapshotOf(
  viewer: Viewer,
  kind: string,
  id: string,
  { value, context }: Pick<AnyMachineSnapshot, 'value' | 'context'>,
) {
  return { value: value as Json, context: viewer.members(kind, id, context as object) };
}

/** The types of events that a transition would take or that a guard decides about. */
function nextEvents(snapshot: AnyMachineSnapshot): string[] {
  return [...new Set(eventsOf(snapshot).map(String))].sort();
}

const isoOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());

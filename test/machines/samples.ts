/** Snapshots that a machine can have, each with the events that lead to it. */
import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  initialTransition,
} from 'xstate';
import type { JsonValue } from '../../db/actors/store.ts';
import { statePath, takeEvent } from '../../src/replay/step.ts';
import { storedSnapshot } from '../../src/replay/stored-snapshot.ts';

export interface Sample {
  /** The events that lead from the initial state to the snapshot. */
  events: AnyEventObject[];
  snapshot: { value: JsonValue; context: Record<string, JsonValue> };
}

/**
 * Returns a snapshot of each reachable state. If a member of the context can have several types
 * there, or a boolean both values, or a list can be empty or not, each case has its own snapshot.
 */
export function samplesOf(machine: AnyStateMachine, events: readonly AnyEventObject[]): Sample[] {
  const [initial] = initialTransition(machine);
  const found: { path: AnyEventObject[]; snapshot: AnyMachineSnapshot }[] = [
    { path: [], snapshot: initial },
  ];
  const known = new Set([caseOf(initial)]);
  // The loop also visits what it adds, so the shortest paths are found first.
  for (const { path, snapshot } of found) {
    for (const event of events) {
      const [after] = takeEvent(machine, snapshot, event);
      if (known.has(caseOf(after))) continue;
      known.add(caseOf(after));
      found.push({ path: [...path, event], snapshot: after });
    }
  }
  return found.map(({ path, snapshot }) => ({
    events: path,
    snapshot: JSON.parse(JSON.stringify(storedSnapshot(snapshot))),
  }));
}

/** Snapshots with the same text are the same case. */
function caseOf(snapshot: AnyMachineSnapshot): string {
  const members = Object.entries(snapshot.context).map(([name, value]) => {
    if (typeof value === 'boolean') return [name, value];
    return [name, Array.isArray(value) ? value.length > 0 : jsonType(value)];
  });
  return JSON.stringify([statePath(snapshot), ...members]);
}

/** Returns the type of a JSON value, e.g. `null`, `[string]`, `{failed: number, id: string}`. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${[...new Set(value.map(jsonType))].sort().join(' | ')}]`;
  if (typeof value !== 'object') return typeof value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${name}: ${jsonType(member)}`).join(', ')}}`;
}

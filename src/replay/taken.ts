import type { AnyEventObject, AnyMachineSnapshot, StateNode } from 'xstate';
import type { VersionedMachine } from './versioned.ts';

/** The transition that a machine took, and the guards that decided it. */
export interface TakenTransition {
  readonly event: string;
  /** The path of the state that has the transition; '' for one of the whole machine. */
  readonly source: string;
  /** The path of the state that the transition names; null if it changes no state. */
  readonly target: string | null;
  /** The guard that held; null if the transition has none. */
  readonly guard: string | null;
  /** The guards of the transitions before it, which did not hold. */
  readonly failed: readonly string[];
}

/**
 * Returns the transition that takes an event in a state; undefined if none does. `machine_version` is
 * the version that took the event.
 */
export function takenTransition(
  kind: VersionedMachine,
  machine_version: number,
  before: AnyMachineSnapshot,
  event: { readonly type: string },
): TakenTransition | undefined {
  const { machine } = kind.earlier?.find(({ version }) => version === machine_version) ?? kind;
  if (before.status !== 'active') return undefined;
  const [taken] = machine.getTransitionData(before, event as AnyEventObject);
  if (!taken) return undefined;
  const candidates = taken.source.transitions.get(event.type) ?? [];
  const earlier = candidates.slice(0, Math.max(0, candidates.indexOf(taken)));
  return {
    event: event.type,
    source: pathOf(taken.source),
    target: taken.target?.[0] ? pathOf(taken.target[0]) : null,
    guard: nameOf(taken.guard),
    failed: earlier.flatMap(({ guard }) => nameOf(guard) ?? []),
  };
}

const pathOf = ({ path }: Pick<StateNode, 'path'>): string => path.join('.');

/** The name of a guard. Each guard of Weir's machines has one. */
function nameOf(guard: unknown): string | null {
  if (typeof guard === 'string') return guard;
  if (typeof guard !== 'object' || guard === null || !('type' in guard)) return null;
  return String(guard.type);
}

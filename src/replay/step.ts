import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
} from 'xstate';
import { canonicalJson } from '../json/canonical.ts';

type Transition = [
  after: AnyMachineSnapshot,
  actions: readonly { type: string; params?: unknown }[],
];

/**
 * Applies an event to a machine. If no transition takes the event, or if the machine has ended,
 * `after` is the same object as `before`.
 */
export function takeEvent(
  machine: AnyStateMachine,
  before: AnyMachineSnapshot,
  event: AnyEventObject,
): Transition {
  if (before.status !== 'active') return [before, []];
  const actions: Transition[1][number][] = [];
  const scope = scopeOf(machine);
  scope.actionExecutor = (action) => {
    actions.push(action);
  };
  return [machine.transition(before, event, scope), actions];
}

type InertScope = Parameters<AnyStateMachine['transition']>[2];

const scopes = new WeakMap<AnyStateMachine, InertScope>();

/**
 * Returns the scope (XState's environment of a transition) in which a machine computes transitions
 * without side effects. XState's own `transition` creates an actor for the scope of each event,
 * which takes longer than the transition. So here all events of a machine share one scope. This is
 * possible because no machine of Weir starts other actors.
 */
function scopeOf(machine: AnyStateMachine): InertScope {
  const known = scopes.get(machine);
  if (known) return known;
  const self = createActor(machine);
  const doNothing = () => undefined;
  const scope: InertScope = {
    ...{ self, id: '', sessionId: '', system: self.system },
    ...{ logger: doNothing, defer: doNothing, emit: doNothing, stopChild: doNothing },
    actionExecutor: doNothing,
  };
  scopes.set(machine, scope);
  return scope;
}

/** Returns the text whose hash the event log has: state and context, as canonical JSON. */
export function hashedText({ value, context }: Pick<AnyMachineSnapshot, 'value' | 'context'>) {
  return canonicalJson({ value, context });
}

/** Length of a hash in hex digits: 128 bits of a SHA-256. */
export const HASH_DIGITS = 32;

/** Returns the state as a path, e.g. `processing.polling`; parallel regions as JSON. */
export function statePath({ value }: Pick<AnyMachineSnapshot, 'value'>): string {
  const parts: string[] = [];
  let rest: unknown = value;
  while (typeof rest === 'object' && rest !== null) {
    const [[key, inner] = ['', undefined], ...others] = Object.entries(rest);
    if (others.length > 0) return [...parts, JSON.stringify(rest)].join('.');
    parts.push(key);
    rest = inner;
  }
  return [...parts, String(rest)].join('.');
}

/** Returns the first part of a state's path, e.g. `processing` of `processing.polling`. */
export function topState(path: string): string {
  const end = path.indexOf('.');
  return end < 0 ? path : path.slice(0, end);
}

import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  transition,
} from 'xstate';
import { canonicalJson } from '../../json/canonical.ts';

/** Length of a hash in hex digits: 128 bits of a SHA-256. */
const HASH_DIGITS = 32;

type Transition = [
  after: AnyMachineSnapshot,
  actions: readonly { type: string; params?: unknown }[],
];

/** Applies an event to a machine. An ended machine takes no event: it returns `before` itself. */
export function takeEvent(
  machine: AnyStateMachine,
  before: AnyMachineSnapshot,
  event: AnyEventObject,
): Transition {
  return before.status === 'active' ? transition(machine, before, event) : [before, []];
}

/**
 * Returns the hash of state and context: the first 32 hex digits of the SHA-256 of
 * `{value, context}` as canonical JSON. So the order of keys does not change the hash.
 */
export function hashSnapshot({ value, context }: AnyMachineSnapshot): string {
  const text = canonicalJson({ value, context });
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, HASH_DIGITS);
}

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

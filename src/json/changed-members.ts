import { canonicalJson } from './canonical.ts';

/** The members of an object before and after a change, without those that are the same. */
export interface ChangedMembers {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

/**
 * Returns the members that differ between two states of an object; undefined if none do. A member that
 * one of the states lacks is null there.
 */
export function changedMembers(before: object, after: object): ChangedMembers | undefined {
  const [old, now] = [before, after].map(
    (state) => new Map<string, unknown>(Object.entries(state)),
  );
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const valueIn = (state: Map<string, unknown> | undefined, name: string) =>
    state?.get(name) ?? null;
  const changed = names.filter(
    (name) => canonicalJson(valueIn(old, name)) !== canonicalJson(valueIn(now, name)),
  );
  if (changed.length === 0) return undefined;
  const only = (state: Map<string, unknown> | undefined) =>
    Object.fromEntries(changed.map((name) => [name, valueIn(state, name)]));
  return { before: only(old), after: only(now) };
}

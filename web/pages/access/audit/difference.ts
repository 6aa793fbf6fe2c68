/** A member that a change set, as text; undefined if the member was not there. */
export interface Difference {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The members of a change: only those that differ. */
export function differences(before: object | null, after: object | null): Difference[] {
  const [old, now] = [before ?? {}, after ?? {}] as Record<string, unknown>[];
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])];
  return names
    .map((name) => ({ name, before: textOf(old, name), after: textOf(now, name) }))
    .filter((difference) => difference.before !== difference.after);
}

function textOf(members: Record<string, unknown> | undefined, name: string): string | undefined {
  if (!members || !Object.hasOwn(members, name)) return undefined;
  const value = members[name];
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inWords).join(', ');
  return inWords(value);
}

const inWords = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

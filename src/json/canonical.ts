/**
 * Returns a value as JSON with the keys of each object sorted by UTF-16 code units (RFC 8785). Two
 * values that are equal as JSON give the same text, whatever the order of their keys. Like
 * `JSON.stringify`, leaves out members that JSON cannot hold, and calls `toJSON`. The value itself
 * must be one that JSON can hold.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (hasToJson(value)) return canonicalJson(value.toJSON());
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member: unknown = (value as Record<string, unknown>)[key];
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol')
      continue;
    members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join()}}`;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

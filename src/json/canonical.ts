/**
 * Returns a value as JSON with the keys of each object sorted by UTF-16 code units (RFC 8785). Two
 * values that are equal as JSON give the same text, whatever the order of their keys. Like
 * `JSON.stringify`, calls `toJSON` and leaves out members that JSON cannot hold. `value` itself
 * must be a value that JSON can hold.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (hasToJson(value)) return canonicalJson(value.toJSON());
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  let members = '';
  for (const key of Object.keys(value).sort()) {
    const member: unknown = (value as Record<string, unknown>)[key];
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol')
      continue;
    if (members !== '') members += ',';
    members += `${quote(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** Matches a text without quotes, backslashes, control characters and surrogates. */
const NEEDS_NO_ESCAPE = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/**
 * Returns a text as a JSON string. Most texts need no escape. For these, the test is faster than
 * `JSON.stringify`. Speed matters here, because each event of an actor is hashed.
 */
function quote(text: string): string {
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/**
 * Edits the top-level members of a JSON object in its text, so that everything else keeps its
 * bytes: big integers, `1.0`, key order, unknown fields (design 5, pass-through).
 */

interface Member {
  key: string;
  /** From the key's quote to the end of the value. */
  start: number;
  valueStart: number;
  end: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN = new Set([123, 91]);
const CLOSE = new Set([125, 93]);

function skipSpace(text: string, at: number): number {
  let position = at;
  // Valid JSON has no other character up to the space than tab, LF, CR and space itself.
  while (text.charCodeAt(position) <= 32) position += 1;
  return position;
}

function skipString(text: string, at: number): number {
  let position = at + 1;
  for (;;) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) return position + 1;
    position += code === BACKSLASH ? 2 : 1;
  }
}

function skipValue(text: string, at: number): number {
  let position = at;
  let depth = 0;
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      position = skipString(text, position);
      if (depth === 0) return position;
      continue;
    }
    if (OPEN.has(code)) depth += 1;
    else if (CLOSE.has(code)) {
      if (depth === 0) return position;
      depth -= 1;
      if (depth === 0) return position + 1;
    } else if (depth === 0 && (code === COMMA || code <= 32)) return position;
    position += 1;
  }
  return position;
}

/** The members of the object that `text` is; `text` must be valid JSON of an object. */
function membersOf(text: string): Member[] {
  const members: Member[] = [];
  let position = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(position) === QUOTE) {
    const start = position;
    const keyEnd = skipString(text, position);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, valueStart);
    members.push({ key: JSON.parse(text.slice(start, keyEnd)), start, valueStart, end });
    position = skipSpace(text, end);
    if (text.charCodeAt(position) !== COMMA) break;
    position = skipSpace(text, position + 1);
  }
  return members;
}

/**
 * Sets (`edits[key]` = JSON text), adds or removes (`null`) top-level members. A key that stands
 * several times is edited everywhere. `text` must be valid JSON of an object.
 */
export function editMembers(text: string, edits: Readonly<Record<string, string | null>>): string {
  const members = membersOf(text);
  const pieces: string[] = [];
  const missing = new Set(Object.keys(edits).filter((key) => edits[key] !== null));
  let changed = missing.size > 0;
  for (const { key, start, valueStart, end } of members) {
    if (!Object.hasOwn(edits, key)) {
      pieces.push(text.slice(start, end));
      continue;
    }
    changed = true;
    missing.delete(key);
    const value = edits[key];
    if (value !== null) pieces.push(text.slice(start, valueStart) + value);
  }
  if (!changed) return text;
  for (const key of missing) pieces.push(`${JSON.stringify(key)}:${edits[key]}`);
  return `{${pieces.join(',')}}`;
}

/**
 * Replaces the value of every member `key` whose value is the string `from`, at any depth. Safe on
 * raw text: inside a JSON string the quotes around a key would be escaped.
 */
export function replaceStringMember(text: string, key: string, from: string, to: string): string {
  const value = JSON.stringify(from);
  const compact = `"${key}":${value}`;
  const spaced = `"${key}": ${value}`;
  let result = text;
  if (result.includes(compact))
    result = result.replaceAll(compact, () => `"${key}":${JSON.stringify(to)}`);
  if (result.includes(spaced))
    result = result.replaceAll(spaced, () => `"${key}": ${JSON.stringify(to)}`);
  return result;
}

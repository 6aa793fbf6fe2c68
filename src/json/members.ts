import { skipString } from './strings.ts';

/**
 * Edits the top-level members of a JSON object in its text, so that everything else keeps its
 * bytes: big integers, `1.0`, key order, spaces, unknown fields (design 5, pass-through).
 */

/** JSON text that replaces a value; null removes the member; a function edits the value's text. */
export type Edit = string | null | ((valueText: string) => string);

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const BRACKET_OPEN = 91;
const BRACKET_CLOSE = 93;
const BRACE_OPEN = 123;
const BRACE_CLOSE = 125;

function skipSpace(text: string, at: number): number {
  let position = at;
  // Valid JSON has no other character up to the space than tab, LF, CR and space itself.
  while (text.charCodeAt(position) <= 32) position += 1;
  return position;
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
    if (code === BRACE_OPEN || code === BRACKET_OPEN) depth += 1;
    else if (code === BRACE_CLOSE || code === BRACKET_CLOSE) {
      if (depth === 0) return position;
      depth -= 1;
      if (depth === 0) return position + 1;
    } else if (depth === 0 && (code === COMMA || code <= 32)) return position;
    position += 1;
  }
  return position;
}

/** Up to so many members are compared with each other; a map of them costs more. */
const FEW_MEMBERS = 24;
/** Positions that are kept of a member: its key's first quote, what follows the key, its value, its end. */
const POSITIONS = 4;
/** The positions of the text before, for the next one. */
let spare: number[] | undefined;

/**
 * Where the top-level members of an object stand in its text. Numbers and comparisons in place, not
 * an object and a string for each: this is on the way of every call.
 */
class Members {
  count = 0;
  private readonly at: number[];
  /** True if a key is written with an escape: then keys are compared as they are meant. */
  private hasEscapes = false;
  private last: Map<string, number> | undefined;

  /** `text` must be valid JSON of an object. */
  constructor(private readonly text: string) {
    this.at = spare ?? [];
    spare = undefined;
    let position = skipSpace(text, skipSpace(text, 0) + 1);
    while (text.charCodeAt(position) === QUOTE) {
      const keyEnd = this.skipKey(position);
      const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
      const end = skipValue(text, value);
      const first = this.count * POSITIONS;
      this.at[first] = position;
      this.at[first + 1] = keyEnd;
      this.at[first + 2] = value;
      this.at[first + 3] = end;
      this.count += 1;
      position = skipSpace(text, end);
      if (text.charCodeAt(position) !== COMMA) break;
      position = skipSpace(text, position + 1);
    }
  }

  /** Nothing is asked any more. */
  release(): void {
    if (this.count <= FEW_MEMBERS) spare = this.at;
  }

  start(index: number): number {
    return this.at[index * POSITIONS] as number;
  }

  value(index: number): number {
    return this.at[index * POSITIONS + 2] as number;
  }

  end(index: number): number {
    return this.at[index * POSITIONS + 3] as number;
  }

  isNamed(index: number, name: string): boolean {
    if (this.hasEscapes) return this.key(index) === name;
    return (
      this.keyLength(index) === name.length && this.text.startsWith(name, this.start(index) + 1)
    );
  }

  /** The last member of that name; -1 if there is none. */
  lastIndexOf(name: string): number {
    for (let index = this.count - 1; index >= 0; index -= 1) {
      if (this.isNamed(index, name)) return index;
    }
    return -1;
  }

  /** True if a later member has the same key. */
  isOverridden(index: number): boolean {
    if (this.count > FEW_MEMBERS) {
      this.last ??= this.lastOfEach();
      return this.last.get(this.key(index)) !== index;
    }
    for (let later = index + 1; later < this.count; later += 1) {
      if (this.haveSameKey(index, later)) return true;
    }
    return false;
  }

  private lastOfEach(): Map<string, number> {
    const last = new Map<string, number>();
    for (let index = 0; index < this.count; index += 1) last.set(this.key(index), index);
    return last;
  }

  private haveSameKey(one: number, other: number): boolean {
    if (this.hasEscapes) return this.key(one) === this.key(other);
    const length = this.keyLength(one);
    if (length !== this.keyLength(other)) return false;
    const from = this.start(one) + 1;
    const to = this.start(other) + 1;
    for (let at = 0; at < length; at += 1) {
      if (this.text.charCodeAt(from + at) !== this.text.charCodeAt(to + at)) return false;
    }
    return true;
  }

  /** Without its quotes. */
  private keyLength(index: number): number {
    return this.keyEnd(index) - this.start(index) - 2;
  }

  private keyEnd(index: number): number {
    return this.at[index * POSITIONS + 1] as number;
  }

  private key(index: number): string {
    const quoted = this.text.slice(this.start(index), this.keyEnd(index));
    return this.hasEscapes ? JSON.parse(quoted) : quoted.slice(1, -1);
  }

  /** The position after the key that begins at `at`. Keys are short. */
  private skipKey(at: number): number {
    const { text } = this;
    let position = at + 1;
    for (; position < text.length; position += 1) {
      const code = text.charCodeAt(position);
      if (code === QUOTE) return position + 1;
      if (code !== BACKSLASH) continue;
      this.hasEscapes = true;
      position += 1;
    }
    return position;
  }
}

/**
 * Sets, adds or removes top-level members (see {@link Edit}; a function is not called for a member
 * that is missing). Of a key that stands several times the last one stays, which is the one that
 * `JSON.parse` saw: another parser may take the first, and be asked for what Weir never checked.
 * `text` must be valid JSON of an object.
 */
export function editMembers(text: string, edits: Readonly<Record<string, Edit>>): string {
  const members = new Members(text);
  const { count } = members;
  const names = Object.keys(edits);
  let result = '';
  let copied = 0;
  let kept = 0;
  for (let index = 0; index < count; index += 1) {
    const edit = editOf(members, index, names, edits);
    if (edit === null || members.isOverridden(index)) {
      // With the comma before it, or, as long as nothing stays before it, with the one after it.
      const isFirst = kept === 0;
      const from = isFirst ? members.start(index) : members.end(index - 1);
      result += text.slice(copied, from);
      copied = isFirst && index + 1 < count ? members.start(index + 1) : members.end(index);
      continue;
    }
    kept += 1;
    if (edit === undefined) continue;
    const value = members.value(index);
    const end = members.end(index);
    result += text.slice(copied, value);
    result += typeof edit === 'string' ? edit : edit(text.slice(value, end));
    copied = end;
  }
  const close = count > 0 ? members.end(count - 1) : skipSpace(text, 0) + 1;
  for (const name of names) {
    const edit = edits[name];
    if (typeof edit !== 'string' || members.lastIndexOf(name) >= 0) continue;
    result += `${text.slice(copied, close)}${kept > 0 ? ',' : ''}${JSON.stringify(name)}:${edit}`;
    copied = close;
    kept += 1;
  }
  members.release();
  return result + text.slice(copied);
}

function editOf(
  members: Members,
  index: number,
  names: readonly string[],
  edits: Readonly<Record<string, Edit>>,
): Edit | undefined {
  for (const name of names) if (members.isNamed(index, name)) return edits[name];
  return undefined;
}

/**
 * Where the last of these top-level members ends, from the start of the text; -1 if one is missing.
 * Of a key that stands several times, the last counts. `text` must be valid JSON of an object.
 */
export function endOfMembers(text: string, keys: readonly string[]): number {
  const members = new Members(text);
  let last = -1;
  const areThere = keys.every((key) => {
    const index = members.lastIndexOf(key);
    if (index >= 0) last = Math.max(last, members.end(index));
    return index >= 0;
  });
  members.release();
  return areThere ? last : -1;
}

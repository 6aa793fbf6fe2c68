import { skipString } from './strings.ts';

/**
 * Edits the top-level members of a JSON object in its text. All other bytes stay the same: big
 * integers, `1.0`, key order, spaces, unknown fields.
 */

/**
 * How to change a member. A string is the new JSON text of the value. Null removes the member. A
 * function gets the JSON text of the present value and returns the new text.
 */
export type Edit = string | null | ((valueText: string) => string);

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const BRACKET_OPEN = 91;
const BRACKET_CLOSE = 93;
const BRACE_OPEN = 123;
const BRACE_CLOSE = 125;

/** Returns the position of the next character that is not white space. */
export function skipSpace(text: string, at: number): number {
  let position = at;
  // In valid JSON, the only characters up to code 32 are tab, LF, CR and space.
  while (text.charCodeAt(position) <= 32) position += 1;
  return position;
}

/** Returns the position after the JSON value that starts at `at`. */
export function skipValue(text: string, at: number): number {
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

/**
 * If an object has at most this number of members, comparing all keys is cheaper than building a
 * map.
 */
const MAX_COMPARED_MEMBERS = 24;
/**
 * The number of positions stored for each member: start and end of the key, start and end of the
 * value.
 */
const POSITIONS_PER_MEMBER = 4;
/**
 * An array of positions that no `Members` uses now. The next `Members` uses this array again, so
 * that most calls allocate no array.
 */
let sparePositions: number[] | undefined;

/**
 * The positions of an object's top-level members in its text. Every call uses this class, so it
 * must be fast. So it stores only numbers and compares keys inside the text. It creates neither an
 * object nor a string for each member.
 */
class Members {
  count = 0;
  private readonly positions: number[];
  /** True if a key contains an escape. Then keys are parsed before they are compared. */
  private hasEscapes = false;
  private lastIndexByKey: Map<string, number> | undefined;

  /** `text` must be valid JSON of an object. */
  constructor(private readonly text: string) {
    this.positions = sparePositions ?? [];
    sparePositions = undefined;
    let position = skipSpace(text, skipSpace(text, 0) + 1);
    while (text.charCodeAt(position) === QUOTE) {
      const keyEnd = this.skipKey(position);
      const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
      const end = skipValue(text, value);
      const first = this.count * POSITIONS_PER_MEMBER;
      this.positions[first] = position;
      this.positions[first + 1] = keyEnd;
      this.positions[first + 2] = value;
      this.positions[first + 3] = end;
      this.count += 1;
      position = skipSpace(text, end);
      if (text.charCodeAt(position) !== COMMA) break;
      position = skipSpace(text, position + 1);
    }
  }

  /** Gives the array of positions to the next `Members`. Do not use this object after the call. */
  release(): void {
    if (this.count <= MAX_COMPARED_MEMBERS) sparePositions = this.positions;
  }

  start(index: number): number {
    return this.positions[index * POSITIONS_PER_MEMBER] as number;
  }

  value(index: number): number {
    return this.positions[index * POSITIONS_PER_MEMBER + 2] as number;
  }

  end(index: number): number {
    return this.positions[index * POSITIONS_PER_MEMBER + 3] as number;
  }

  isNamed(index: number, name: string): boolean {
    if (this.hasEscapes) return this.key(index) === name;
    return (
      this.keyLength(index) === name.length && this.text.startsWith(name, this.start(index) + 1)
    );
  }

  /** The index of the last member with this name; -1 if no member has it. */
  lastIndexOf(name: string): number {
    for (let index = this.count - 1; index >= 0; index -= 1) {
      if (this.isNamed(index, name)) return index;
    }
    return -1;
  }

  /** True if a later member has the same key. */
  isOverridden(index: number): boolean {
    if (this.count > MAX_COMPARED_MEMBERS) {
      this.lastIndexByKey ??= this.createKeyIndex();
      return this.lastIndexByKey.get(this.key(index)) !== index;
    }
    for (let later = index + 1; later < this.count; later += 1) {
      if (this.haveSameKey(index, later)) return true;
    }
    return false;
  }

  private createKeyIndex(): Map<string, number> {
    const last = new Map<string, number>();
    for (let index = 0; index < this.count; index += 1) last.set(this.key(index), index);
    return last;
  }

  private haveSameKey(first: number, second: number): boolean {
    if (this.hasEscapes) return this.key(first) === this.key(second);
    const length = this.keyLength(first);
    if (length !== this.keyLength(second)) return false;
    const from = this.start(first) + 1;
    const to = this.start(second) + 1;
    for (let at = 0; at < length; at += 1) {
      if (this.text.charCodeAt(from + at) !== this.text.charCodeAt(to + at)) return false;
    }
    return true;
  }

  /** The number of characters of a key without its quotes. */
  private keyLength(index: number): number {
    return this.keyEnd(index) - this.start(index) - 2;
  }

  private keyEnd(index: number): number {
    return this.positions[index * POSITIONS_PER_MEMBER + 1] as number;
  }

  private key(index: number): string {
    const quoted = this.text.slice(this.start(index), this.keyEnd(index));
    return this.hasEscapes ? JSON.parse(quoted) : quoted.slice(1, -1);
  }

  /**
   * Returns the position after the key that starts at `at`. Keys are short, so a loop is faster
   * than `skipString`.
   */
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
 * Sets, adds or removes top-level members (see {@link Edit}). An edit function is called only for
 * an existing member. `text` must be valid JSON of an object.
 *
 * If a key is repeated, only its last member stays, because `JSON.parse` returns that value. An
 * upstream's parser may use the first value, which Weir never checked.
 */
export function editMembers(text: string, edits: Readonly<Record<string, Edit>>): string {
  const members = new Members(text);
  const { count } = members;
  const names = Object.keys(edits);
  let result = '';
  let copiedUntil = 0;
  let keptCount = 0;
  for (let index = 0; index < count; index += 1) {
    const edit = findEdit(members, index, names, edits);
    if (edit === null || members.isOverridden(index)) {
      // The comma before the member is removed. For the first member, the comma after it is
      // removed.
      const isFirst = keptCount === 0;
      const from = isFirst ? members.start(index) : members.end(index - 1);
      result += text.slice(copiedUntil, from);
      copiedUntil = isFirst && index + 1 < count ? members.start(index + 1) : members.end(index);
      continue;
    }
    keptCount += 1;
    if (edit === undefined) continue;
    const value = members.value(index);
    const end = members.end(index);
    result += text.slice(copiedUntil, value);
    result += typeof edit === 'string' ? edit : edit(text.slice(value, end));
    copiedUntil = end;
  }
  const close = count > 0 ? members.end(count - 1) : skipSpace(text, 0) + 1;
  for (const name of names) {
    const edit = edits[name];
    if (typeof edit !== 'string' || members.lastIndexOf(name) >= 0) continue;
    result += `${text.slice(copiedUntil, close)}${keptCount > 0 ? ',' : ''}${JSON.stringify(name)}:${edit}`;
    copiedUntil = close;
    keptCount += 1;
  }
  members.release();
  return result + text.slice(copiedUntil);
}

function findEdit(
  members: Members,
  index: number,
  names: readonly string[],
  edits: Readonly<Record<string, Edit>>,
): Edit | undefined {
  for (const name of names) if (members.isNamed(index, name)) return edits[name];
  return undefined;
}

/**
 * Returns the JSON text of a top-level member; undefined if the object has none with this name.
 * `text` must be valid JSON of an object.
 */
export function memberText(text: string, name: string): string | undefined {
  const members = new Members(text);
  const index = members.lastIndexOf(name);
  const value = index < 0 ? undefined : text.slice(members.value(index), members.end(index));
  members.release();
  return value;
}

/**
 * Returns the first position at which all members with these keys have ended; -1 if a key is
 * missing. Only top-level members count. If a key is repeated, its last member counts. `text` must
 * be valid JSON of an object.
 */
export function findEndOfMembers(text: string, keys: readonly string[]): number {
  const members = new Members(text);
  let last = -1;
  const hasAll = keys.every((key) => {
    const index = members.lastIndexOf(key);
    if (index >= 0) last = Math.max(last, members.end(index));
    return index >= 0;
  });
  members.release();
  return hasAll ? last : -1;
}

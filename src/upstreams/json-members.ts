/**
 * Edits the top-level members of a JSON object in its text, so that everything else keeps its
 * bytes: big integers, `1.0`, key order, spaces, unknown fields (design 5, pass-through).
 */

interface Member {
  key: string;
  /** From the key's quote to the end of the value. */
  start: number;
  valueStart: number;
  end: number;
}

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

/** The position after the string that begins at `at`. An image in it is megabytes: `indexOf`. */
function skipString(text: string, at: number): number {
  let quote = text.indexOf('"', at + 1);
  while (quote >= 0) {
    let slash = quote - 1;
    while (text.charCodeAt(slash) === BACKSLASH) slash -= 1;
    // An even number of backslashes escape each other, not the quote.
    if ((quote - slash) % 2 === 1) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
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

function keyOf(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes('\\') ? JSON.parse(text.slice(start, end)) : raw;
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
    members.push({ key: keyOf(text, start, keyEnd), start, valueStart, end });
    position = skipSpace(text, end);
    if (text.charCodeAt(position) !== COMMA) break;
    position = skipSpace(text, position + 1);
  }
  return members;
}

/**
 * Sets, adds or removes top-level members (see {@link Edit}; a function is not called for a member
 * that is missing). Of a key that stands several times the last one stays, which is the one that
 * `JSON.parse` saw: another parser may take the first, and be asked for what Weir never checked.
 * `text` must be valid JSON of an object.
 */
export function editMembers(text: string, edits: Readonly<Record<string, Edit>>): string {
  const members = membersOf(text);
  // Mostly there are none.
  const repeated = hasRepeated(members) ? repeatedIn(members) : undefined;
  const names = Object.keys(edits);
  let result = '';
  let copied = 0;
  let kept = 0;
  let index = -1;
  for (const member of members) {
    index += 1;
    const { key, start, valueStart, end } = member;
    // Comparing is far cheaper than a look-up by a key that was just cut out of a text.
    const name = names[names.indexOf(key)];
    const edit = name === undefined ? undefined : edits[name];
    if (edit === null || repeated?.has(member)) {
      // With the comma before it, or, as long as nothing stays before it, with the one after it.
      const [from, to] =
        kept > 0
          ? [members[index - 1]?.end ?? start, end]
          : [start, members[index + 1]?.start ?? end];
      result += text.slice(copied, from);
      copied = to;
      continue;
    }
    kept += 1;
    if (edit === undefined) continue;
    const value = typeof edit === 'string' ? edit : edit(text.slice(valueStart, end));
    result += text.slice(copied, valueStart) + value;
    copied = end;
  }
  const close = members.at(-1)?.end ?? skipSpace(text, 0) + 1;
  for (const name of names) {
    const edit = edits[name];
    if (typeof edit !== 'string' || indexOfKey(members, name, members.length) >= 0) continue;
    result += `${text.slice(copied, close)}${kept > 0 ? ',' : ''}${JSON.stringify(name)}:${edit}`;
    copied = close;
    kept += 1;
  }
  return result + text.slice(copied);
}

/** Members that a later one of the same key overrides. */
function repeatedIn(members: readonly Member[]): Set<Member> {
  const last = new Map(members.map((member) => [member.key, member]));
  return new Set(members.filter((member) => last.get(member.key) !== member));
}

/** Up to so many members are compared with each other; a set of them costs more. */
const FEW_MEMBERS = 24;

function hasRepeated(members: readonly Member[]): boolean {
  if (members.length > FEW_MEMBERS) {
    return new Set(members.map(({ key }) => key)).size < members.length;
  }
  let index = 0;
  for (const { key } of members) {
    if (indexOfKey(members, key, index) >= 0) return true;
    index += 1;
  }
  return false;
}

/** Where a key stands before `end`; -1 if nowhere. A plain loop: this is asked for every member. */
function indexOfKey(members: readonly Member[], key: string, end: number): number {
  for (let index = 0; index < end; index += 1) if (members[index]?.key === key) return index;
  return -1;
}

/**
 * Where the last of these top-level members ends, from the start of the text; -1 if one is missing.
 * Of a key that stands several times, the last counts. `text` must be valid JSON of an object.
 */
export function endOfMembers(text: string, keys: readonly string[]): number {
  const members = membersOf(text);
  const ends = keys.map((key) => members.findLast((member) => member.key === key)?.end ?? -1);
  return ends.includes(-1) ? -1 : Math.max(...ends);
}

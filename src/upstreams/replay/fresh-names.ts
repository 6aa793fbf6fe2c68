/** The members of answers that hold ids of answers, items and tool calls. */
const ID_MEMBERS = /("(?:id|item_id|call_id|responseId)"\s*:\s*)"((?:[^"\\]|\\.)*)"/g;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const ALPHABETS = ['0123456789', LETTERS, LETTERS.toUpperCase()];
/** With fewer random characters, an id would not be unique. Such an id is kept. */
const MIN_RANDOM_CHARS = 9;

/**
 * Returns the JSON text of an answer with other ids. `own` is the answer's own id, which becomes
 * `answer_id`. Each of `others` becomes a new id of the same form, wherever it is. The pattern is safe
 * on raw text: quotes inside a JSON string are escaped.
 */
export function withFreshNames(
  text: string,
  own: unknown,
  answer_id: string,
  others: readonly unknown[],
): string {
  const fresh = new Map<string, string>();
  for (const id of others)
    if (typeof id === 'string') fresh.set(id, fresh.get(id) ?? freshName(id));
  if (typeof own === 'string') fresh.set(own, answer_id);
  return fresh.size === 0 ? text : renamed(text, fresh);
}

/** Returns a JSON text, or the text of events, whose ids are replaced as `names` says. */
export function renamed(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(ID_MEMBERS, (member, key: string, id: string) => {
    const other = names.get(id);
    return other === undefined ? member : `${key}"${other}"`;
  });
}

/**
 * Returns a new id of the same form: the same prefix, length and kinds of characters, because some
 * models accept only ids of their own form. An id that names a function and a number, as Kimi's
 * (`functions.name:0`), carries meaning and is kept.
 */
export function freshName(id: string): string {
  const prefix = /^[A-Za-z]{1,14}[_-]/.exec(id)?.[0] ?? '';
  const rest = id.slice(prefix.length);
  if (/^functions\./.test(id) || rest.replaceAll(/[^0-9A-Za-z]/g, '').length < MIN_RANDOM_CHARS) {
    return id;
  }
  const random = crypto.getRandomValues(new Uint32Array(rest.length));
  const isHex = /^[0-9a-f-]+$/.test(rest);
  return (
    prefix +
    [...rest].map((character, at) => randomLike(character, random[at] ?? 0, isHex)).join('')
  );
}

function randomLike(character: string, random: number, isHex: boolean): string {
  const alphabet = isHex
    ? '0123456789abcdef'
    : ALPHABETS.find((characters) => characters.includes(character));
  if (alphabet === undefined || character === '-') return character;
  return alphabet[random % alphabet.length] ?? character;
}

/** The members of answers that hold ids of answers, items and tool calls. */
const ID_MEMBERS = /("(?:id|item_id|call_id|responseId)"\s*:\s*)"((?:[^"\\]|\\.)*)"/g;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const ALPHABETS = ['0123456789', LETTERS, LETTERS.toUpperCase()];
/** With fewer random characters, an id would not be unique. Such an id is kept. */
const MIN_RANDOM_CHARS = 9;

/** The JSON text of an answer, cut at those of its ids that are replaced: piece, id, piece, id, piece. */
export interface CutText {
  readonly pieces: readonly string[];
  readonly ids: readonly string[];
}

/**
 * Cuts the JSON text of an answer at `ids`, wherever an id is expected. The pattern is safe on raw text:
 * quotes inside a JSON string are escaped. An answer that is sent many times is cut once.
 */
export function cutAtNames(text: string, ids: readonly unknown[]): CutText {
  const cut: { pieces: string[]; ids: string[] } = { pieces: [], ids: [] };
  let from = 0;
  for (const match of text.matchAll(ID_MEMBERS)) {
    const [, key = '', id = ''] = match;
    if (!ids.includes(id)) continue;
    const at = match.index + key.length + 1;
    cut.pieces.push(text.slice(from, at));
    cut.ids.push(id);
    from = at + id.length;
  }
  cut.pieces.push(text.slice(from));
  return cut;
}

/**
 * Returns the text of an answer with other ids. `own` is the answer's own id, which becomes `answer_id`.
 * Each other id becomes a new one of the same form, the same one wherever it is.
 */
export function withFreshNames({ pieces, ids }: CutText, own: unknown, answer_id: string): string {
  let fresh: Map<string, string> | undefined;
  let text = pieces[0] ?? '';
  for (let at = 0; at < ids.length; at += 1) {
    const id = ids[at] ?? '';
    let name = id === own ? answer_id : fresh?.get(id);
    if (name === undefined) {
      name = freshName(id);
      fresh ??= new Map();
      fresh.set(id, name);
    }
    text += name + (pieces[at + 1] ?? '');
  }
  return text;
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

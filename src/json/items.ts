import { skipSpace, skipValue } from './members.ts';

const COMMA = 44;
const BRACKET_CLOSE = 93;

/**
 * Edits the items of a JSON array in its text. `edit` gets the JSON text and the index of each item.
 * It returns the new text, or null to remove the item. Only spaces between items may change besides,
 * so big integers keep their digits. `text` must be valid JSON of an array.
 */
export function editItems(
  text: string,
  edit: (itemText: string, index: number) => string | null,
): string {
  const items: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  for (let index = 0; text.charCodeAt(at) !== BRACKET_CLOSE; index += 1) {
    const end = skipValue(text, at);
    const edited = edit(text.slice(at, end), index);
    if (edited !== null) items.push(edited);
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return `[${items.join(',')}]`;
}

import type { ListPosition } from '../../../db/pages.ts';

const MAX_CURSOR_CHARS = 300;
const MAX_ID_CHARS = 200;

/** Returns the text that a client sends to get the rows after a row. */
export function cursorOf({ at_us, id }: ListPosition): string {
  return Buffer.from(JSON.stringify([at_us, id])).toString('base64url');
}

/** Returns the row of a cursor; undefined if the text is no cursor. */
export function parseCursor(text: string): ListPosition | undefined {
  if (text.length > MAX_CURSOR_CHARS) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.length !== 2) return undefined;
  const [at_us, id] = parsed as unknown[];
  const isPosition =
    Number.isSafeInteger(at_us) &&
    typeof id === 'string' &&
    id.length <= MAX_ID_CHARS &&
    !id.includes('\u0000');
  return isPosition ? { at_us: at_us as number, id } : undefined;
}

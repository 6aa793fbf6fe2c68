/**
 * Returns at most `max_chars` of a client's text, without characters that PostgreSQL cannot store:
 * NUL and lone surrogates. Such a character would make the whole row unstorable.
 */
export function storable(text: string, max_chars: number): string {
  return text.slice(0, max_chars).replaceAll('\u0000', '\ufffd').toWellFormed();
}

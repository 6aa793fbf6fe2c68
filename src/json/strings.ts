const BACKSLASH = 92;
/**
 * Returns the position after the JSON string whose opening quote is at `start`. If the string is
 * not closed, returns the end of the text. Uses `indexOf`, which is fast: an image in a JSON string
 * can have megabytes.
 */
export function skipString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote >= 0) {
    let slash = quote - 1;
    while (text.charCodeAt(slash) === BACKSLASH) slash -= 1;
    // An even number of backslashes escapes only backslashes, so the quote closes the string.
    if ((quote - slash) % 2 === 1) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

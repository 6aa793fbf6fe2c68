/**
 * Most ASCII texts have at least this many characters per token. The ratio gives a cheap count while
 * streaming.
 */
const CHARS_PER_TOKEN = 3;

/**
 * Returns an upper estimate of the tokens of a text. A token has at least one byte, and text in many
 * scripts has hardly more characters than tokens. So only ASCII text gets more than one byte per
 * token.
 */
export function estimateTokens(text: string): number {
  const bytes = Buffer.byteLength(text);
  return bytes === text.length ? bytes / CHARS_PER_TOKEN : bytes;
}

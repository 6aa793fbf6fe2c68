/** True for Base64 in its first alphabet (RFC 4648, section 4). Only Google also reads the second one. */
export function isStandardBase64(text: string): boolean {
  return /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text);
}

import { isObject } from '../../json/object.ts';
import type { CachedKind } from './neutral-ids.ts';

/** The member with the conversation or the text of each kind. */
const CONTENT: Record<CachedKind, string> = {
  openai: 'messages',
  anthropic: 'messages',
  responses: 'input',
  gemini: 'contents',
  embedding: 'input',
  rerank: 'query',
  translation: 'text',
  stt: 'file',
};

/**
 * Returns a number of 32 bits that is the same for all bodies with the same canonical form and scope: a
 * hash of the last text of the conversation. If no stored request has the same number, the call is a
 * miss, and its canonical form is not needed. That form costs far more than the rest of a miss. Other
 * scopes have other numbers, so the time of a miss does not depend on what they asked (P6).
 */
export function sketchOf(
  kind: CachedKind,
  body: Readonly<Record<string, unknown>>,
  scope: string,
): number {
  // A map finds an integer of 32 bits with a sign faster than a larger number.
  return Bun.hash.xxHash32(lastText(body[CONTENT[kind]]), Bun.hash.xxHash32(scope)) | 0;
}

/** Returns the text at the end of some content; '' if there is none. */
function lastText(content: unknown): string {
  let last = content;
  while (typeof last !== 'string') {
    if (Array.isArray(last)) last = last.at(-1);
    else if (isObject(last)) last = last['text'] ?? last['content'] ?? last['parts'];
    else return '';
  }
  return last;
}

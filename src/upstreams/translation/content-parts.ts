import { isObject } from '../../json/object.ts';

/** A part of a message's content: text of the answer, or reasoning. */
interface ContentPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/**
 * Returns the texts of a content that is a list, in its order. Mistral's reasoning models send such
 * lists: `thinking` chunks, which hold lists themselves, and `text` chunks (@mistralai/mistralai
 * 2.7.0: ContentChunk, ThinkChunk). Other chunks, e.g. references, have no text.
 */
export function contentParts(content: readonly unknown[]): ContentPart[] {
  return content.flatMap((chunk): ContentPart[] => {
    if (!isObject(chunk)) return [];
    const { type, text, thinking } = chunk;
    if (type === 'thinking') return [{ type: 'reasoning', text: thinkingText(thinking) }];
    return typeof text === 'string' ? [{ type: 'text', text }] : [];
  });
}

function thinkingText(thinking: unknown): string {
  if (!Array.isArray(thinking)) return typeof thinking === 'string' ? thinking : '';
  return contentParts(thinking)
    .map(({ text }) => text)
    .join('');
}

import { WeirError } from '../../errors/weir-error.ts';
import { isObject } from '../../json/object.ts';
import type { MessagesRequest } from './messages-schema.ts';

/** Required fields of an image source, by its type (spec: Messages, Content blocks). */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  url: ['url'],
  base64: ['media_type', 'data'],
};

/**
 * Checks that each image block has a valid source. A source whose type is not in `FIELDS` goes to
 * the upstream unchanged. Throws WeirError that names the missing field.
 */
export function requireImageSources(messages: MessagesRequest['messages']): void {
  for (const [index, { content }] of messages.entries()) {
    if (typeof content !== 'string') checkBlocks(content, `messages.${index}.content`, true);
  }
}

function checkBlocks(blocks: readonly unknown[], path: string, mayHoldToolResults: boolean): void {
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    const block_path = `${path}.${index}`;
    if (block['type'] === 'image') checkSource(block['source'], `${block_path}.source`);
    // A tool result may hold images, but no further tool result.
    if (mayHoldToolResults && block['type'] === 'tool_result' && Array.isArray(block['content'])) {
      checkBlocks(block['content'], `${block_path}.content`, false);
    }
  }
}

function checkSource(source: unknown, path: string): void {
  if (!isObject(source) || typeof source['type'] !== 'string') {
    throw invalidSource(path, 'must be an object with a type, e.g. url or base64');
  }
  const type = source['type'];
  const fields = Object.hasOwn(FIELDS, type) ? (FIELDS[type] ?? []) : [];
  for (const field of fields) {
    if (typeof source[field] !== 'string')
      throw invalidSource(`${path}.${field}`, 'must be a string');
  }
}

function invalidSource(param: string, message: string): WeirError {
  return new WeirError('invalid_request', `${param} ${message}.`, { param });
}

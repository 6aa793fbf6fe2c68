import { WeirError } from '../../errors/weir-error.ts';
import { isObject } from '../../json/object.ts';
import type { MessagesRequest } from './messages-schema.ts';

/** What an image source of each type must carry (spec: Messages, Content blocks). */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  url: ['url'],
  base64: ['media_type', 'data'],
};

/**
 * Checks that images are blocks with a source. A source of a type that the spec does not know goes
 * to the upstream as it is. Throws WeirError that names the missing field.
 */
export function requireImageSources(messages: MessagesRequest['messages']): void {
  for (const [index, { content }] of messages.entries()) {
    if (typeof content !== 'string') checkBlocks(content, `messages.${index}.content`, true);
  }
}

function checkBlocks(blocks: readonly unknown[], path: string, withResults: boolean): void {
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    const at = `${path}.${index}`;
    if (block['type'] === 'image') checkSource(block['source'], `${at}.source`);
    // A tool's result may hold images, and nothing that holds blocks again.
    if (withResults && block['type'] === 'tool_result' && Array.isArray(block['content'])) {
      checkBlocks(block['content'], `${at}.content`, false);
    }
  }
}

function checkSource(source: unknown, path: string): void {
  if (!isObject(source) || typeof source['type'] !== 'string') {
    throw wrong(path, 'must be an object with a type: url or base64');
  }
  const type = source['type'];
  const fields = Object.hasOwn(FIELDS, type) ? (FIELDS[type] ?? []) : [];
  for (const field of fields) {
    if (typeof source[field] !== 'string') throw wrong(`${path}.${field}`, 'must be a string');
  }
}

function wrong(param: string, message: string): WeirError {
  return new WeirError('invalid_request', `${param} ${message}.`, { param });
}

/**
 * Ids of tool calls and items in a conversation. They link a call to its result and mean nothing
 * else. A replayed answer has new ids, so the next turn must have the same canonical form with any ids.
 */
import { isObject } from '../../json/object.ts';
import type { ClientProtocol } from '../../protocols/names.ts';

/** What is cached: the client's protocol of a chat call, or the operation of a direct call. */
export type CachedKind = ClientProtocol | 'embedding' | 'rerank' | 'translation' | 'stt';

/** The place of a tool call in its conversation. It is written as JSON cannot be. */
export class CallOrdinal {
  constructor(readonly ordinal: number) {}
}

type Body = Record<string, unknown>;

/** Types of response items whose ids no upstream gets (`openai-responses.ts`). */
const PLAIN_ITEMS = [
  ...['message', 'function_call', 'function_call_output', 'reasoning'],
  ...['custom_tool_call', 'custom_tool_call_output'],
];

/**
 * Replaces ids of tool calls by their places in the conversation, and removes ids of items. Only ids at
 * their own places are replaced: the same names inside the arguments of a tool are content. Changes
 * `body`.
 */
export function neutralize(kind: CachedKind, body: Body): void {
  const ordinals = new Map<string, CallOrdinal>();
  const replace = (holder: unknown, name: string) => {
    if (!isObject(holder)) return;
    const id = holder[name];
    if (typeof id !== 'string') return;
    const known = ordinals.get(id) ?? new CallOrdinal(ordinals.size);
    ordinals.set(id, known);
    holder[name] = known;
  };
  switch (kind) {
    case 'openai':
      for (const message of objectsIn(body['messages'])) {
        for (const call of objectsIn(message['tool_calls'])) replace(call, 'id');
        replace(message, 'tool_call_id');
      }
      break;
    case 'anthropic':
      for (const message of objectsIn(body['messages'])) {
        for (const block of objectsIn(message['content'])) {
          if (block['type'] === 'tool_use') replace(block, 'id');
          if (block['type'] === 'tool_result') replace(block, 'tool_use_id');
        }
      }
      break;
    case 'responses':
      for (const item of objectsIn(body['input'])) {
        replace(item, 'call_id');
        if (PLAIN_ITEMS.includes(String(item['type'] ?? 'message'))) delete item['id'];
      }
      break;
    case 'gemini':
      for (const content of objectsIn(body['contents'])) {
        for (const part of objectsIn(content['parts'])) {
          replace(part['functionCall'], 'id');
          replace(part['functionResponse'], 'id');
        }
      }
      break;
    default:
  }
}

function objectsIn(list: unknown): Body[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

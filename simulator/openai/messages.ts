import { isStandardBase64 } from '../shared/base64.ts';
import { isGiven, isObject, type JsonObject } from '../shared/json.ts';
import type { PromptMeter } from '../shared/tokens.ts';
import { ToolScript } from '../shared/tool-script.ts';
import { invalid } from './errors.ts';
import { missing, unsupported, wrongType } from './parameters.ts';

/** The parts of a conversation that decide the answer. */
export interface Conversation {
  last_user_text: string;
  /** The tool result at the end of the conversation; null if it ends otherwise. */
  tool_result: string | null;
  script: ToolScript;
}

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];
const PART_TYPES = ['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file'];

/**
 * Reads the messages of a chat and counts their tokens with `meter`.
 * @throws {ProviderError} for what the API refuses.
 */
export function readMessages(messages: unknown[], meter: PromptMeter): Conversation {
  if (messages.length === 0) {
    throw invalid(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'messages',
      'empty_array',
    );
  }
  const conversation: Conversation = {
    last_user_text: '',
    tool_result: null,
    script: new ToolScript(),
  };
  let awaited = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw wrongType(path, 'an object', message);
    const role = roleOf(message, path);
    if (role === 'tool') checkAnswered(message, awaited, path);
    else if (awaited.size > 0) throw unanswered(awaited, index);
    meter.message(role, typeof message['name'] === 'string' ? message['name'] : undefined);
    const text = readContent(message, role, path, meter);
    if (role === 'user' && text !== '') conversation.last_user_text = text;
    if (role === 'user') conversation.script.user(text);
    if (role === 'tool') conversation.script.result();
    conversation.tool_result = role === 'tool' ? text : null;
    if (role === 'assistant') awaited = readToolCalls(message, path, meter);
  }
  if (awaited.size > 0) throw unanswered(awaited, messages.length);
  return conversation;
}

function roleOf(message: JsonObject, path: string): string {
  const { role } = message;
  if (!isGiven(role)) throw missing(`${path}.role`);
  if (typeof role !== 'string') throw wrongType(`${path}.role`, 'a string', role);
  if (!ROLES.includes(role)) throw unsupported(`${path}.role`, role, ROLES);
  return role;
}

function readContent(message: JsonObject, role: string, path: string, meter: PromptMeter): string {
  const { content } = message;
  if (typeof content === 'string') {
    meter.text(content);
    return content;
  }
  if (Array.isArray(content)) {
    let text = '';
    for (const [index, part] of content.entries()) {
      text += readPart(part, `${path}.content[${index}]`, meter);
    }
    return text;
  }
  // A message of the assistant with a tool call or a refusal may have no content.
  if (!isGiven(content) && role === 'assistant') return '';
  if (!isGiven(content)) throw missing(`${path}.content`);
  throw invalid(
    `Invalid type for '${path}.content': expected one of a string or array of objects, but got ${Array.isArray(content) ? 'an array' : `a ${typeof content}`} instead.`,
    `${path}.content`,
    'invalid_type',
  );
}

function readPart(part: unknown, path: string, meter: PromptMeter): string {
  if (!isObject(part)) throw wrongType(path, 'an object', part);
  const { type } = part;
  if (!isGiven(type)) throw missing(`${path}.type`);
  if (!PART_TYPES.includes(type as string)) throw unsupported(`${path}.type`, type, PART_TYPES);
  if (type !== 'text' && type !== 'refusal') {
    if (type === 'image_url') checkImage(part, path);
    meter.medium();
    return '';
  }
  const text = part[type];
  if (!isGiven(text)) throw missing(`${path}.${type}`);
  if (typeof text !== 'string') throw wrongType(`${path}.${type}`, 'a string', text);
  meter.text(text);
  return text;
}

function checkImage(part: JsonObject, path: string): void {
  const image = part['image_url'];
  if (!isObject(image)) throw wrongType(`${path}.image_url`, 'an object', image);
  const { url } = image;
  if (typeof url !== 'string') throw missing(`${path}.image_url.url`);
  if (!/^(https?:\/\/|data:image\/)/.test(url)) {
    throw invalid(
      `Invalid '${path}.image_url.url'. Expected a valid URL, but got a value with an invalid format.`,
      `${path}.image_url.url`,
      'invalid_value',
    );
  }
  const [, data = ''] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
  if (!isStandardBase64(data)) {
    throw invalid(`Invalid base64 in '${path}.image_url.url'.`, `${path}.image_url.url`, null);
  }
}

/** Returns the ids of a message's tool calls. The next messages must contain their results. */
function readToolCalls(message: JsonObject, path: string, meter: PromptMeter): Set<unknown> {
  const calls = message['tool_calls'];
  const ids = new Set<unknown>();
  if (!isGiven(calls)) return ids;
  if (!Array.isArray(calls)) throw wrongType(`${path}.tool_calls`, 'an array', calls);
  for (const [index, call] of calls.entries()) {
    if (!isObject(call)) throw wrongType(`${path}.tool_calls[${index}]`, 'an object', call);
    const called = call['function'] ?? call['custom'];
    if (!isObject(called)) throw missing(`${path}.tool_calls[${index}].function`);
    meter.text(String(called['name']));
    meter.text(String(called['arguments'] ?? called['input']));
    ids.add(call['id']);
  }
  return ids;
}

function checkAnswered(message: JsonObject, awaited: Set<unknown>, path: string): void {
  const id = message['tool_call_id'];
  if (!isGiven(id)) throw missing(`${path}.tool_call_id`);
  if (awaited.delete(id)) return;
  throw invalid(
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    `${path}.role`,
    null,
  );
}

function unanswered(awaited: Set<unknown>, index: number): Error {
  return invalid(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
      `'tool_call_id'. The following tool_call_ids did not have response messages: ${[...awaited].join(', ')}`,
    `messages.[${index}].role`,
    null,
  );
}

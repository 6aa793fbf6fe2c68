import { isStandardBase64 } from '../shared/base64.ts';
import { isGiven, isObject, type JsonObject } from '../shared/json.ts';
import type { PromptMeter } from '../shared/tokens.ts';
import { ToolScript } from '../shared/tool-script.ts';
import { invalid } from './errors.ts';
import { expected } from './parameters.ts';

/** The parts of a conversation that decide the answer. */
export interface Conversation {
  last_user_text: string;
  /** The tool result that ends the conversation; null if a tool result does not end it. */
  tool_result: string | null;
  script: ToolScript;
}

const OPAQUE = ['thinking', 'redacted_thinking'];
const MEDIA = ['image', 'document', 'search_result', 'container_upload'];

interface Turn {
  text: string;
  tool_result: string | null;
  /** Ids of the tool calls in the turn. */
  calls: Set<unknown>;
}

/** Reads and counts system text and messages. @throws {ProviderError} for what the API refuses. */
export function readMessages(
  body: JsonObject,
  system_turns: boolean,
  meter: PromptMeter,
): Conversation {
  readSystem(body['system'], meter);
  const messages = body['messages'] as unknown[];
  if (messages.length === 0) throw invalid('messages: at least one message is required');
  const conversation: Conversation = {
    last_user_text: '',
    tool_result: null,
    script: new ToolScript(),
  };
  let awaited = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (!isObject(message)) expected(path, 'Input should be a valid dictionary');
    const role = roleOf(message, path, system_turns);
    meter.message(role);
    const called = awaited;
    const turn = readTurn(message, path, called, meter);
    if (called.size > 0) throw unanswered(called, index - 1);
    awaited = turn.calls;
    if (role === 'user' && turn.text !== '') conversation.last_user_text = turn.text;
    conversation.tool_result = turn.tool_result;
    if (turn.tool_result !== null) conversation.script.result();
    if (role === 'user') conversation.script.user(turn.text);
  }
  if (awaited.size > 0) throw unanswered(awaited, messages.length - 1);
  return conversation;
}

function readSystem(system: unknown, meter: PromptMeter): void {
  if (!isGiven(system)) return;
  meter.message('system');
  if (typeof system === 'string') {
    meter.text(system);
    return;
  }
  if (!Array.isArray(system)) expected('system', 'Input should be a valid string');
  for (const [index, block] of system.entries()) {
    if (!isObject(block) || typeof block['text'] !== 'string') {
      expected(`system.${index}.text`, 'Field required');
    }
    meter.text(block['text'] as string);
  }
}

function roleOf(message: JsonObject, path: string, system_turns: boolean): string {
  const { role } = message;
  if (!isGiven(role)) expected(`${path}.role`, 'Field required');
  if (role === 'system' && !system_turns) {
    throw invalid(`${path}: role 'system' is not supported on this model`);
  }
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw invalid(`messages: Unexpected role "${role}". Allowed roles are "user" or "assistant"`);
  }
  return role;
}

function readTurn(
  message: JsonObject,
  path: string,
  awaited: Set<unknown>,
  meter: PromptMeter,
): Turn {
  const { content } = message;
  const turn: Turn = { text: '', tool_result: null, calls: new Set() };
  if (!isGiven(content)) expected(`${path}.content`, 'Field required');
  if (typeof content === 'string') {
    if (content === '') throw invalid('messages: text content blocks must be non-empty');
    meter.text(content);
    turn.text = content;
    return turn;
  }
  if (!Array.isArray(content)) expected(`${path}.content`, 'Input should be a valid list');
  for (const [index, block] of content.entries()) {
    readBlock(block, `${path}.content.${index}`, turn, awaited, meter);
  }
  return turn;
}

function readBlock(
  block: unknown,
  path: string,
  turn: Turn,
  awaited: Set<unknown>,
  meter: PromptMeter,
): void {
  if (!isObject(block)) expected(path, 'Input should be a valid dictionary');
  const { type } = block;
  if (!isGiven(type)) expected(`${path}.type`, 'Field required');
  if (type === 'text') {
    turn.text += readText(block, path, meter);
  } else if (type === 'tool_use') {
    readToolUse(block, path, turn, meter);
  } else if (type === 'tool_result') {
    readToolResult(block, path, turn, awaited, meter);
  } else if (MEDIA.includes(type as string)) {
    if (type === 'image') checkSource(block, path);
    meter.medium();
  } else if (!OPAQUE.includes(type as string) && !isServerTool(type)) {
    throw invalid(
      `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'search_result', 'server_tool_use', 'text', 'thinking', 'tool_result', 'tool_use', 'web_search_tool_result'`,
    );
  }
}

/** True for blocks of tools that the provider runs. The client sends them back unchanged. */
function isServerTool(type: unknown): boolean {
  return typeof type === 'string' && /^server_tool_use$|_tool_result$/.test(type);
}

function readText(block: JsonObject, path: string, meter: PromptMeter): string {
  const { text } = block;
  if (!isGiven(text)) expected(`${path}.text.text`, 'Field required');
  if (typeof text !== 'string') expected(`${path}.text.text`, 'Input should be a valid string');
  if (text === '') throw invalid('messages: text content blocks must be non-empty');
  meter.text(text);
  return text;
}

function readToolUse(block: JsonObject, path: string, turn: Turn, meter: PromptMeter): void {
  const { id, name, input } = block;
  if (typeof id !== 'string') expected(`${path}.tool_use.id`, 'Field required');
  if (typeof name !== 'string') expected(`${path}.tool_use.name`, 'Field required');
  if (!isObject(input)) expected(`${path}.tool_use.input`, 'Input should be a valid dictionary');
  meter.text(name);
  meter.text(JSON.stringify(input));
  turn.calls.add(id);
}

function readToolResult(
  block: JsonObject,
  path: string,
  turn: Turn,
  awaited: Set<unknown>,
  meter: PromptMeter,
): void {
  const id = block['tool_use_id'];
  if (!isGiven(id)) expected(`${path}.tool_result.tool_use_id`, 'Field required');
  if (!awaited.delete(id)) {
    throw invalid(
      `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
    );
  }
  const { content } = block;
  const parts = Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }];
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (typeof part['text'] !== 'string') {
      meter.medium();
      continue;
    }
    meter.text(part['text']);
    turn.tool_result = (turn.tool_result ?? '') + part['text'];
  }
  turn.tool_result ??= '';
}

function checkSource(block: JsonObject, path: string): void {
  const { source } = block;
  if (!isObject(source)) expected(`${path}.image.source`, 'Field required');
  if (!['base64', 'url', 'file'].includes(source['type'] as string)) {
    throw invalid(
      `${path}.image.source: Input tag '${source['type']}' found using 'type' does not match any of the expected tags: 'base64', 'file', 'url'`,
    );
  }
  const field = source['type'] === 'base64' ? 'data' : source['type'] === 'url' ? 'url' : 'file_id';
  if (typeof source[field] !== 'string') {
    expected(`${path}.image.source.${source['type']}.${field}`, 'Field required');
  }
  if (field === 'data' && !isStandardBase64(String(source['data']))) {
    throw invalid(`${path}.image.source.base64.data: Invalid base64 data`);
  }
}

function unanswered(ids: Set<unknown>, index: number): Error {
  return invalid(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...ids].join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

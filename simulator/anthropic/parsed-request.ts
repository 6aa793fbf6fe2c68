import type { ParsedRequest, ToolToCall } from '../shared/answer.ts';
import { isGiven, isObject, type JsonObject } from '../shared/json.ts';
import { hashText, numberAt } from '../shared/random.ts';
import { PromptMeter } from '../shared/tokens.ts';
import { invalid, notFound } from './errors.ts';
import { readMessages } from './messages.ts';
import { checkParameters, expected } from './parameters.ts';
import { checkThinking } from './thinking.ts';

/** A parsed request of messages: the common part, and fields of this protocol only. */
export interface MessageRequest extends ParsedRequest {
  /** True if the answer has a signed thinking block without the text of the thinking. */
  thinking_omitted: boolean;
}

/** A model whose name begins with this prefix does not exist. */
const MISSING_MODEL = 'missing-';
const THINKING_MIN = 8;
const THINKING_SPREAD = 24;
const BETA_WITH_SYSTEM_TURNS = 'mid-conversation-system';
const VERSION_WITH_SYSTEM_TURNS = '2026-10-21';

/**
 * Reads the body of `POST /v1/messages`. @throws {ProviderError} if the API would refuse the body.
 */
export function readMessage(body: unknown, headers: Headers, account: string): MessageRequest {
  const checked = checkedBody(body, headers, ['model', 'max_tokens', 'messages']);
  const model = checked['model'] as string;
  const meter = new PromptMeter(hashText(model, hashText(account)));
  const conversation = readMessages(checked, takesSystemTurns(headers), meter);
  checkThinking(checked['messages'] as unknown[], checked['thinking']);
  const tools = chosenTools(checked, readTools(checked, meter));
  const choice = checked['tool_choice'];
  return {
    ...conversation,
    seed: meter.seed,
    model,
    stream: checked['stream'] === true,
    choices: 1,
    prompt_tokens: meter.tokens,
    max_tokens: checked['max_tokens'] as number,
    stop: stopSequences(checked['stop_sequences']),
    json: jsonWanted(checked),
    tools: conversation.tool_result === null || conversation.script.next ? tools : [],
    parallel_tools: !(isObject(choice) && choice['disable_parallel_tool_use'] === true),
    reasoning_tokens: thinkingTokens(checked['thinking'], meter.seed),
    thinking_omitted: isObject(checked['thinking']) && checked['thinking']['display'] === 'omitted',
    client_reference: clientReference(checked['metadata']),
  };
}

/**
 * Returns the input tokens of a body of `POST /v1/messages/count_tokens`. @throws {ProviderError} if
 * the API would refuse the body.
 */
export function countMessage(body: unknown, headers: Headers): number {
  const checked = checkedBody(body, headers, ['model', 'messages']);
  const meter = new PromptMeter(0);
  readMessages(checked, takesSystemTurns(headers), meter);
  readTools(checked, meter);
  return meter.tokens;
}

function checkedBody(body: unknown, headers: Headers, required: string[]): JsonObject {
  if (!isObject(body)) throw invalid('Input should be a valid dictionary');
  checkParameters(body, headers.get('anthropic-version') ?? '', required);
  const model = body['model'] as string;
  if (model === '') expected('model', 'String should have at least 1 character');
  if (model.startsWith(MISSING_MODEL)) throw notFound(`model: ${model}`);
  return body;
}

function takesSystemTurns(headers: Headers): boolean {
  return (
    headers.get('anthropic-version') === VERSION_WITH_SYSTEM_TURNS ||
    (headers.get('anthropic-beta') ?? '').includes(BETA_WITH_SYSTEM_TURNS)
  );
}

function stopSequences(sequences: unknown): string[] {
  if (!Array.isArray(sequences)) return [];
  return sequences.map((sequence: unknown, index) => {
    if (typeof sequence !== 'string') {
      expected(`stop_sequences.${index}`, 'Input should be a valid string');
    }
    if (sequence.trim() === '') {
      throw invalid('stop_sequences: each stop sequence must contain non-whitespace');
    }
    return sequence;
  });
}

/**
 * The requested JSON format. It is in `output_config`. In the API's beta version it was in
 * `output_format`.
 */
function jsonWanted(body: JsonObject): ParsedRequest['json'] {
  const config = body['output_config'];
  const format = (isObject(config) ? config['format'] : undefined) ?? body['output_format'];
  return isObject(format) && format['type'] === 'json_schema' ? { schema: format['schema'] } : null;
}

function thinkingTokens(thinking: unknown, seed: number): number {
  if (!isObject(thinking)) return 0;
  const { type } = thinking;
  if (type !== 'enabled' && type !== 'adaptive') return 0;
  return THINKING_MIN + (numberAt(seed, 0) % THINKING_SPREAD);
}

function clientReference(metadata: unknown): string | null {
  if (!isObject(metadata)) return null;
  return typeof metadata['user_id'] === 'string' ? metadata['user_id'] : null;
}

/** The client's own tools. The simulator never calls tools that the provider runs. */
function readTools(body: JsonObject, meter: PromptMeter): ToolToCall[] {
  const tools: unknown = body['tools'];
  if (!Array.isArray(tools)) return [];
  const callable: ToolToCall[] = [];
  for (const [index, tool] of tools.entries()) {
    if (!isObject(tool)) expected(`tools.${index}`, 'Input should be a valid dictionary');
    meter.text(JSON.stringify(tool));
    const { type, name, input_schema } = tool;
    if (isGiven(type) && type !== 'custom') continue;
    if (typeof name !== 'string') expected(`tools.${index}.custom.name`, 'Field required');
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      expected(
        `tools.${index}.custom.name`,
        "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
      );
    }
    if (!isObject(input_schema)) expected(`tools.${index}.custom.input_schema`, 'Field required');
    callable.push({ name, schema: input_schema });
  }
  return callable;
}

function chosenTools(body: JsonObject, offered: ToolToCall[]): ToolToCall[] {
  const choice = body['tool_choice'];
  if (!isObject(choice)) return offered;
  const { type, name } = choice;
  if (type === 'none') return [];
  if (offered.length === 0 && !Array.isArray(body['tools'])) {
    throw invalid('tool_choice: tool_choice may only be specified while providing tools.');
  }
  if (type === 'auto' || type === 'any') return offered;
  if (type !== 'tool') {
    throw invalid(
      `tool_choice: Input tag '${type}' found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'`,
    );
  }
  const forced = offered.filter((tool) => tool.name === name);
  if (forced.length === 0) throw invalid(`Tool '${name}' not found in provided tools`);
  return forced;
}

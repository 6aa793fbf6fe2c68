import type { ParsedRequest, ToolToCall } from '../shared/answer.ts';
import { isGiven, isObject, type JsonObject } from '../shared/json.ts';
import { hashText } from '../shared/random.ts';
import { PromptMeter } from '../shared/tokens.ts';
import { invalid, modelNotFound } from './errors.ts';
import { readMessages } from './messages.ts';
import { checkParameters, missing, unsupported, wrongType } from './parameters.ts';

/** A parsed chat request: the common part, and fields of this protocol only. */
export interface ChatRequest extends ParsedRequest {
  include_usage: boolean;
  logprobs: boolean;
  /**
   * True if the request forces one tool by its name. The finish reason of a tool call is then
   * `stop` instead of `tool_calls`.
   */
  forced_tool: boolean;
}

const MAX_STOP_SEQUENCES = 4;
/** A model whose name begins with this prefix does not exist. */
const MISSING_MODEL = 'missing-';
export const REASONING_TOKENS: Record<string, number> = {
  none: 0,
  minimal: 4,
  low: 16,
  medium: 32,
  high: 64,
  xhigh: 128,
  max: 256,
};

/**
 * Reads the body of `POST /chat/completions`. @throws {ProviderError} if the API would refuse it.
 */
export function readChat(body: unknown, account: string): ChatRequest {
  if (!isObject(body)) throw wrongType('body', 'an object', body);
  checkParameters(body);
  const model = body['model'] as string;
  if (model === '') throw invalid('you must provide a model parameter', null, null);
  if (model.startsWith(MISSING_MODEL)) throw modelNotFound(model);
  const meter = new PromptMeter(hashText(model, hashText(account)));
  const conversation = readMessages(body['messages'] as unknown[], meter);
  const offered = readTools(body, meter);
  const { tools, forced_tool } = chosenTools(body, offered);
  return {
    ...conversation,
    seed: meter.seed,
    model,
    stream: body['stream'] === true,
    choices: (body['n'] as number | null) ?? 1,
    prompt_tokens: meter.tokens,
    max_tokens: largest(body['max_tokens'], body['max_completion_tokens']),
    stop: stopSequences(body['stop']),
    json: jsonWanted(body['response_format']),
    tools: conversation.tool_result === null || conversation.script.next ? tools : [],
    parallel_tools: body['parallel_tool_calls'] !== false,
    reasoning_tokens: REASONING_TOKENS[String(body['reasoning_effort'])] ?? 0,
    client_reference: typeof body['user'] === 'string' ? body['user'] : null,
    include_usage:
      isObject(body['stream_options']) && body['stream_options']['include_usage'] === true,
    logprobs: body['logprobs'] === true,
    forced_tool,
  };
}

/**
 * Returns the largest of the limits. A real server may obey `max_tokens` or
 * `max_completion_tokens`. The larger limit is the worst case for a gateway, because it allows the
 * more expensive answer.
 */
function largest(...limits: unknown[]): number | null {
  const set_limits = limits.filter((limit) => typeof limit === 'number');
  return set_limits.length === 0 ? null : Math.max(...set_limits);
}

function stopSequences(stop: unknown): string[] {
  if (!isGiven(stop)) return [];
  const sequences: unknown[] = Array.isArray(stop) ? stop : [stop];
  if (sequences.length > MAX_STOP_SEQUENCES) {
    throw invalid(
      `Invalid 'stop': array too long. Expected an array with maximum length ${MAX_STOP_SEQUENCES}, but got an array with length ${sequences.length} instead.`,
      'stop',
      'array_above_max_length',
    );
  }
  return sequences.map((sequence) => {
    if (typeof sequence !== 'string') {
      throw wrongType('stop', 'one of a string or array of strings', sequence);
    }
    return sequence;
  });
}

function jsonWanted(format: unknown): ParsedRequest['json'] {
  if (!isObject(format)) return null;
  const { type } = format;
  if (type === 'text') return null;
  if (type === 'json_object') return {};
  if (type !== 'json_schema') {
    throw unsupported('response_format.type', type, ['json_object', 'json_schema', 'text']);
  }
  const wanted = format['json_schema'];
  if (!isObject(wanted)) throw missing('response_format.json_schema');
  if (!isGiven(wanted['name'])) throw missing('response_format.json_schema.name');
  return { schema: wanted['schema'] };
}

function readTools(body: JsonObject, meter: PromptMeter): ToolToCall[] {
  const tools = body['tools'];
  if (!Array.isArray(tools)) return [];
  return tools.map((tool: unknown, index) => {
    const path = `tools[${index}]`;
    if (!isObject(tool)) throw wrongType(path, 'an object', tool);
    const { type } = tool;
    if (!isGiven(type)) throw missing(`${path}.type`);
    if (type !== 'function' && type !== 'custom') {
      throw unsupported(`${path}.type`, type, ['function', 'custom']);
    }
    const offered = tool[type];
    if (!isObject(offered)) throw missing(`${path}.${type}`);
    const { name } = offered;
    if (typeof name !== 'string') throw missing(`${path}.${type}.name`);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      throw invalid(
        `Invalid '${path}.${type}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        `${path}.${type}.name`,
        'invalid_value',
      );
    }
    meter.text(JSON.stringify(tool));
    const schema = type === 'custom' ? undefined : (offered['parameters'] ?? { type: 'object' });
    return { name, schema };
  });
}

function chosenTools(
  body: JsonObject,
  offered: ToolToCall[],
): { tools: ToolToCall[]; forced_tool: boolean } {
  const choice = body['tool_choice'];
  if (isGiven(choice) && offered.length === 0 && choice !== 'none') {
    throw invalid(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
      null,
    );
  }
  if (choice === 'none') return { tools: [], forced_tool: false };
  if (!isObject(choice)) return { tools: offered, forced_tool: false };
  const named = choice['function'] ?? choice['custom'];
  if (!isObject(named)) return { tools: offered, forced_tool: false };
  const tools = offered.filter(({ name }) => name === named['name']);
  if (tools.length === 0) {
    throw invalid(
      `Tool choice 'function' not found in 'tools' parameter: '${named['name']}'.`,
      'tool_choice',
      null,
    );
  }
  return { tools, forced_tool: true };
}
